"""Export: every record of a store, read page by page, one after another."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from sempre.app.transfer.lines import Line
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.unreadable import Unreadable
from sempre.ports.messages import ActionQuery, ExecutionQuery, Page, Reading, ScheduleQuery
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = ["Export"]

T = TypeVar("T")
PAGE = 500
MOST_RANGES = 1_000_000


class Export:
    """The records of a store, in an order in which they can be loaded.

    The records of one page are in memory at a time, and the ids of the schedules.

    Attributes:
        unreadable: rows that this release cannot read, and that the export leaves out.
    """

    def __init__(self, store: Store) -> None:
        """Take the store; nothing is read yet."""
        self.unreadable: list[Unreadable] = []
        self._store = store
        self._known: set[str] = set()

    def records(self) -> Iterator[Line]:
        """Yield switches, schedules with their ranges and roll-ups, executions, and actions."""
        yield from self._read(self._store.switches())
        yield from self._schedules()
        yield from self._executions()
        yield from self._actions()

    def _read(self, reading: Reading[T]) -> T:
        self._note(reading.unreadable)
        return reading.value

    def _note(self, unreadable: Iterable[Unreadable]) -> None:
        self.unreadable.extend(unreadable)

    def _schedules(self) -> Iterator[Line]:
        def page_after(place: str) -> Page[Schedule]:
            return self._read(self._store.schedules(ScheduleQuery(limit=PAGE, after=place)))

        for schedule in walk_pages(page_after):
            yield from self._schedule(schedule)

    def _schedule(self, schedule: Schedule) -> Iterator[Line]:
        self._known.add(schedule.id)
        yield schedule
        yield from self._read(self._store.ranges(schedule.id, limit=MOST_RANGES))
        yield from self._read(self._store.rollups(schedule.id))

    def _executions(self) -> Iterator[Line]:
        def page_after(place: str) -> Page[Execution]:
            return self._read(self._store.executions(ExecutionQuery(limit=PAGE, after=place)))

        for row in walk_pages(page_after):
            yield from self._execution(row)

    def _execution(self, row: Execution) -> Iterator[Line]:
        if row.schedule_id is not None and row.schedule_id not in self._known:
            yield from self._deleted_schedule(row)
        yield row
        if row.first_started_at is not None:
            yield from self._read(self._store.attempts(row.id))
            yield from self._read(self._store.run_logs(row.id))

    def _deleted_schedule(self, row: Execution) -> Iterator[Line]:
        """Yield the schedule of an execution, which no list of schedules has."""
        self._known.add(row.schedule_id or "")
        for candidate in self._read(self._store.candidates([row.id])):
            if candidate.view is not None:
                yield from self._schedule(candidate.view.schedule)

    def _actions(self) -> Iterator[Line]:
        return walk_pages(
            lambda after: self._read(self._store.actions(ActionQuery(limit=PAGE, after=after)))
        )
