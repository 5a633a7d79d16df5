"""The store as a process sees it: an operation may fail before or after taking effect."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.errors import StoreUnavailable
from sempre.stores.memory import MemoryStore
from sempre.stores.memory.tables import Tables
from sempre.testing.simulation.clock import VirtualClock
from sempre.testing.simulation.stage import Program

if TYPE_CHECKING:
    from sempre.ports.messages import Reading

__all__ = ["FaultyStore", "Journal", "Operation", "Ranges", "WatchedStore"]


class Journal(dict[str, Any]):
    """A table that keeps the previous value of each row changed since the last query."""

    def __init__(self) -> None:
        """Begin empty."""
        super().__init__()
        self.before: dict[str, Any] = {}

    def __setitem__(self, key: str, value: object) -> None:
        """Write a row."""
        self.before.setdefault(key, self.get(key))
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        """Delete a row."""
        self.before.setdefault(key, self.get(key))
        super().__delitem__(key)

    def changes(self) -> list[tuple[str, Any, Any]]:
        """Return key, before and after of each row changed since the last call."""
        before, self.before = self.before, {}
        return [(key, old, self.get(key)) for key, old in before.items()]


class Ranges(list[SlotRange]):
    """The ranges of slots without a row, and the ranges recorded since the last query."""

    def __init__(self) -> None:
        """Begin empty."""
        super().__init__()
        self.new: list[SlotRange] = []

    def extend(self, ranges: Iterable[SlotRange]) -> None:
        """Record ranges."""
        listed = list(ranges)
        self.new += listed
        super().extend(listed)


class WatchedStore(MemoryStore):
    """The memory store, which records changes so that the judge can check every operation."""

    def __init__(self, clock: VirtualClock, uuid: str) -> None:
        """Begin empty."""
        self._executions, self._schedules, self._ranges = Journal(), Journal(), Ranges()
        tables = Tables(schedules=self._schedules, executions=self._executions, ranges=self._ranges)
        super().__init__(clock, tables=tables)
        self.uuid = uuid

    def has_changed(self) -> bool:
        """Return whether a row or schedule was written since the last query of the changes."""
        return bool(self._executions.before or self._schedules.before)

    def changed_rows(self) -> list[tuple[str, Execution | None, Execution | None]]:
        """Return changed executions before and after, since the last call."""
        return self._executions.changes()

    def changed_schedules(self) -> list[tuple[str, Schedule | None, Schedule | None]]:
        """Return changed schedules before and after, since the last call."""
        return self._schedules.changes()

    def new_ranges(self) -> list[SlotRange]:
        """Return the ranges that were recorded since the last call."""
        new, self._ranges.new = self._ranges.new, []
        return new


@dataclass(frozen=True)
class Operation:
    """One call of the store: the calling program, the operation and its arguments."""

    program: Program
    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class FaultyStore:
    """The store as one process sees it, with faults; has the methods of `Store`.

    An operation may fail before taking effect, or after, when only the reply is lost. Other
    processes may act, and time may pass, before and after an operation.
    """

    def __init__(
        self,
        store: WatchedStore,
        program: Program,
        judge: Callable[[Operation], None],
    ) -> None:
        """Wrap a store for one program; `judge` receives every operation."""
        self._store = store
        self._program = program
        self._judge = judge

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of the store
        """Return an operation of the store that may fail."""
        found = getattr(self._store, name)
        return partial(self._call, name, found) if callable(found) else found

    def _call(
        self, name: str, operation: Callable[..., object], *arguments: object, **options: object
    ) -> object:
        program, stage = self._program, self._program.stage
        stage.interleave(program)
        faults = stage.faults
        if stage.store_is_away(program, name) or stage.strikes(
            program, "store_fails", faults.store_fails
        ):
            stage.trace.note(program.name, f"{name} fails")
            self._fail("store failures", "the store cannot be reached.")
        if name in ("candidates", "claim_exclusively"):
            program.sight.see(cast("list[str]", arguments[0]), stage.time.now)
        if name == "expired":
            program.sight.swept_at = stage.time.now
        answer = operation(*arguments, **options)
        if name == "claim_one_off":
            taken = cast("Reading[list[Execution]]", answer).value
            program.sight.see([row.id for row in taken], stage.time.now)
        program.operations += 1
        self._judge(Operation(program, name, arguments, options))
        if name in stage.unanswered or stage.strikes(program, "reply_lost", faults.reply_lost):
            stage.trace.note(program.name, f"the reply of {name} is lost")
            self._fail("lost replies", "the store did not answer.")
        stage.interleave(program)
        return answer

    def _fail(self, counted: str, message: str) -> None:
        self._program.stage.trace.count(counted)
        self._program.fail()
        raise StoreUnavailable(message)
