"""All schedules of a store: made at run time, listed, looked up."""

from collections.abc import Iterable, Iterator, Mapping

from sempre.app.creating import Creator, Declared
from sempre.app.options import Duration
from sempre.app.schedule_handle import UNKNOWN, ScheduleHandle
from sempre.domain.schedule import Schedule
from sempre.engine.audits import Audits
from sempre.engine.core import Engine
from sempre.grids.intervals import read_duration
from sempre.ports.executor import Task
from sempre.ports.messages import ScheduleQuery

__all__ = ["ScheduleHandle", "Schedules"]

PAGE = 500


class Schedules:
    """All schedules of a store: made at run time, listed, looked up."""

    def __init__(
        self, engine: Engine, *, actor: str = "", tasks: Mapping[str, Task] = UNKNOWN
    ) -> None:
        """Work on the store of an engine; the jobs that are known here are among the tasks."""
        self._engine = engine
        self._tasks = tasks
        self._actor = actor

    def __repr__(self) -> str:
        """Show whose schedules they are; the store is not read."""
        return f"<Schedules of {type(self._engine.store).__name__}>"

    def __getitem__(self, name: str) -> ScheduleHandle:
        """Return the schedule of a name, whether it exists or not."""
        return ScheduleHandle(self._engine, name, actor=self._actor, tasks=self._tasks)

    def __iter__(self) -> Iterator[Schedule]:
        """Go through all of them by name, a page at a time."""
        return self.find()

    def find(
        self, *, tag: str | None = None, job: str | None = None, text: str = ""
    ) -> Iterator[Schedule]:
        """Go through those that match, by name, a page at a time."""
        after = ""
        while True:
            query = ScheduleQuery(tag=tag, job=job, text=text, limit=PAGE, after=after)
            page = self._engine.read(self._engine.store.schedules(query))
            yield from page.items
            after = page.after
            if not after:
                return

    def stale(self, *, older_than: Duration) -> Iterator[Schedule]:
        """Go through the enabled ones that the watchdog has not looked at for so long, by name.

        A new one counts from its creation. Up to 500 schedules are all looked at in every pass;
        of more, each one at least once in 24 hours. What is missing or overdue is found in every
        pass, whether or not it is that schedule's turn to be looked at.
        """
        reading = self._engine.store.last_pass()
        audits = Audits(self._engine.read(reading).report)
        limit = reading.now - read_duration("older_than", older_than)
        for schedule in self:
            looked_at = audits.last(schedule) or schedule.created_at
            if schedule.definition.enabled and looked_at < limit:
                yield schedule

    def create_many(self, wanted: Iterable[Declared], *, release: int | None = None) -> list[bool]:
        """Create schedules with their first executions, a thousand in one commit each.

        Returns:
            For each in order whether it was created: False where the name is taken.
        """
        return Creator(self._engine, actor=self._actor, release=release).create_many(wanted)
