"""Stores with a kept bug of limits each; the contracts find all."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import limits_of
from sempre.domain.values import copy_with
from sempre.ports.limits import Opened
from sempre.ports.messages import Order, Reading, Wanted
from sempre.stores.memory import MemoryStore
from sempre.stores.memory.limits import parked


class CountsOncePerBatch(MemoryStore):
    """Claims each order of a batch by the counts of before the batch."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        running = {key: row for key, row in self.tables.unended.items() if not row.is_live}
        answers = []
        for order in orders:
            begun = {key: row for key, row in self.tables.unended.items() if not row.is_live}
            hidden = [row for key, row in begun.items() if key not in running]
            for row in hidden:
                del self.tables.unended[row.id]
            answers += super().claim([order], session=session)
            self.tables.unended.update((row.id, row) for row in hidden)
        return answers


class TakesLimitedWorkAtOnce(MemoryStore):
    """Lets the short way of one-off work take work with limits too."""

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        bare = [row for row in self.tables.unended.values() if row.snapshot.limits]
        for row in bare:
            self.tables.put(copy_with(row, snapshot=copy_with(row.snapshot, limits=())))
        return super().claim_one_off(wanted, session=session, ids=ids)


class FreesInAnyOrder(MemoryStore):
    """Frees the parked execution with the greatest id first."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        for key in keys or ():
            for row in parked(self.tables, key)[:-1]:
                self.tables.put(copy_with(row, held_by="aside"))
        found = super().open_limits(keys, limit=limit, after=after)
        for row in list(self.tables.unended.values()):
            if row.held_by == "aside":
                holder = "limit:" + limits_of(row.snapshot)[0].key
                self.tables.put(copy_with(row, held_by=holder))
        return found


class KeepsTheDueTime(MemoryStore):
    """Frees executions without a new due time, so that their wait counts as lateness."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        before = dict(self.tables.unended)
        found = super().open_limits(keys, limit=limit, after=after)
        for each in found.value.freed:
            row = self.tables.executions[each.id]
            self.tables.put(copy_with(row, due_at=before[each.id].due_at))
        return found


class CountsByTheClockHour(MemoryStore):
    """Empties the window of a rate when the clock's second changes, as a bucket does."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        self.tables.limit_starts.clear()
        return super().claim(orders, session=session)


class SaysNothingOfRates(MemoryStore):
    """Does not say when a rate opens."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        found = super().open_limits(keys, limit=limit, after=after)
        return replace(found, value=replace(found.value, opens={}))
