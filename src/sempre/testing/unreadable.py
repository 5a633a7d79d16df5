"""A store whose process cannot read some of the rows.

The rows of the memory store are objects of one process, which can always read them. So this
module marks the rows that a worker cannot read; the memory store does everything else.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from sempre.domain.execution import Execution
from sempre.domain.unreadable import Table, Unreadable
from sempre.domain.values import copy_with
from sempre.ports.messages import Candidate, Page, Reading, View, Wanted
from sempre.stores.exclusive_claims import Planner
from sempre.stores.memory import MemoryStore

__all__ = ["BlindStore"]

T = TypeVar("T")
_OWNERS: dict[str, Table] = {"ranges": "ranges", "attempts": "attempts", "rollups": "rollups"}


class BlindStore:
    """A view of a memory store with unreadable rows; a `Store` by its methods.

    Attributes:
        blind: the rows that this process cannot read, by table and id, and why.
    """

    def __init__(self, store: MemoryStore) -> None:
        """See everything."""
        self._store = store
        self.blind: dict[tuple[Table, str], str] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        """Return an operation of the store, whose answer leaves out what cannot be read."""
        found = getattr(self._store, name)
        if not callable(found) or not self.blind:
            return found

        def operation(*arguments: Any, **options: Any) -> object:  # noqa: ANN401
            answer = found(*arguments, **options)
            owner = str(arguments[0]) if name in _OWNERS else ""
            return self._seen(answer, _OWNERS.get(name), owner) if _is_reading(answer) else answer

        return operation

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that can be read, past what cannot be."""
        unread = [self._why("executions", row.id, row.snapshot.name) for row in self._single()]
        passed = [each for each in unread if each is not None]
        blind = {each.id for each in passed}
        asked = ids
        if blind:
            known = [row.id for row in self._single()] if ids is None else ids
            asked = [each for each in known if each not in blind]
        taken = self._store.claim_one_off(wanted, session=session, ids=asked)
        return copy_with(taken, unreadable=tuple(passed))

    def claim_exclusively(
        self, ids: Sequence[str], plan: Planner, *, session: str
    ) -> list[Execution | bool]:
        """Plan from what can be read."""
        return self._store.claim_exclusively(
            ids, lambda reading: plan(self._seen(reading, None, "")), session=session
        )

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return ids, which any process can read."""
        return self._store.due_ids(wanted, within=within)

    def _single(self) -> list[Execution]:
        unended = self._store.tables.unended.values()
        return [row for row in unended if row.schedule_id is None and row.is_live]

    def _seen(self, reading: Reading[Any], table: Table | None, owner: str) -> Reading[Any]:
        """Return an answer without what cannot be read."""
        left_out: list[Unreadable] = []
        if table is not None:
            why = self._why(table, owner, owner)
            return Reading(reading.now, [], (why,)) if why else reading
        value = reading.value
        match value:
            case list():
                value = self._readable(value, left_out)
            case Page():
                value = Page(tuple(self._readable(value.items, left_out)), value.after)
            case dict():
                pairs = value.items()
                value = {key: tuple(self._readable(rows, left_out)) for key, rows in pairs}
        return Reading(reading.now, value, tuple(left_out))

    def _readable(self, values: Iterable[T], left_out: list[Unreadable]) -> list[T]:
        pairs = [(value, self._culprit(value)) for value in values]
        left_out += [culprit for _, culprit in pairs if culprit is not None]
        return [value for value, culprit in pairs if culprit is None]

    def _culprit(self, value: object) -> Unreadable | None:
        """Return the row because of which a value cannot be read."""
        match value:
            case View():
                rows = (self._culprit(row) for row in (value.schedule, *value.rows))
                found = next((each for each in rows if each), None)
                return found and found.hides(value.schedule.id)
            case Candidate():
                own = self._culprit(value.execution)
                found = own or (value.view and self._culprit(value.view)) or None
                return found and found.hides(value.execution.id)
            case Execution():
                return self._why("executions", value.id, value.snapshot.name)
        identity = str(getattr(value, "id", getattr(value, "execution_id", "")))
        name = str(getattr(value, "name", identity))
        tables: tuple[Table, ...] = ("schedules", "sessions", "reports")
        causes = (self._why(table, identity, name) for table in tables)
        return next((each for each in causes if each), None)

    def _why(self, table: Table, identity: str, name: str) -> Unreadable | None:
        reason = self.blind.get((table, identity))
        return None if reason is None else Unreadable(table, identity, name, reason)


def _is_reading(answer: object) -> bool:
    return isinstance(answer, Reading) and isinstance(answer.value, list | Page | dict)
