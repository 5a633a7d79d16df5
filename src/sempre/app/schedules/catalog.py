"""All schedules of a store: created at run time, listed, found by name."""

from collections.abc import Iterable, Iterator, Mapping

from sempre.app.options import Duration
from sempre.app.schedules.creation import Creator, Declared
from sempre.app.schedules.search import find_schedules
from sempre.app.schedules.stored_schedule import UNKNOWN, StoredSchedule
from sempre.domain.schedule import Schedule
from sempre.engine.audits import Audits
from sempre.engine.core import Engine
from sempre.errors import Contended, NotFound, Refused
from sempre.grids.intervals import read_duration
from sempre.ports.executor import Task

__all__ = ["Schedules"]

TRIES = 5


class Schedules:
    """All schedules of a store: created at run time, listed, found by name."""

    def __init__(
        self, engine: Engine, *, actor: str = "", tasks: Mapping[str, Task] = UNKNOWN
    ) -> None:
        """Read and write the store of an engine; `tasks` has the jobs that this process knows."""
        self._engine = engine
        self._tasks = tasks
        self._actor = actor

    def __repr__(self) -> str:
        """Show the kind of store; the store is not read."""
        return f"<Schedules of {type(self._engine.store).__name__}>"

    def __getitem__(self, name: str) -> StoredSchedule:
        """Return the schedule of a name, whether or not it exists."""
        return StoredSchedule(self._engine, name, actor=self._actor, tasks=self._tasks)

    def __iter__(self) -> Iterator[Schedule]:
        """Yield all schedules by name, a page at a time."""
        return self.find()

    def find(
        self, *, tag: str | None = None, job: str | None = None, text: str = ""
    ) -> Iterator[Schedule]:
        """Return an iterator of the schedules that match, by name, read a page at a time."""
        return find_schedules(self._engine, tag=tag, job=job, text=text)

    def stale(self, *, older_than: Duration) -> Iterator[Schedule]:
        """Yield the enabled schedules that the watchdog has not audited for this long, by name.

        A new schedule counts from its creation. Each pass audits all of up to 500 schedules; of
        more, it audits each at least once in 24 hours. A next row that is missing or overdue is
        found in every pass, also between two audits of its schedule.
        """
        reading = self._engine.store.last_pass()
        audits = Audits(self._engine.read(reading).report)
        limit = reading.now - read_duration("older_than", older_than)
        for schedule in self:
            audited_at = audits.last(schedule) or schedule.created_at
            if schedule.definition.enabled and audited_at < limit:
                yield schedule

    def put(self, wanted: Declared, *, why: str = "") -> StoredSchedule:
        """Create a schedule, or change the one of that name to this definition; return it.

        Raises:
            Refused: the schedule of that name belongs to another owner.
        """
        schedule, owner = self[wanted.name], wanted.definition.owner
        creator = Creator(self._engine, actor=self._actor, release=None)
        for _ in range(TRIES):
            if creator.create_many([wanted]) == [True]:
                return schedule
            try:
                known = schedule.definition
            except NotFound:
                continue  # deleted in the meantime
            if known.owner not in (None, owner):
                message = f"{wanted.name} belongs to the owner {known.owner}"
                raise Refused(f"{message}; pass owner={known.owner!r}, or choose another name.")
            schedule.redefine(wanted.definition, why=why)
            return schedule
        raise Contended("others create and delete the schedule at the same time; try again.")

    def create_many(self, wanted: Iterable[Declared], *, release: int | None = None) -> list[bool]:
        """Create schedules with their first executions, a thousand in one commit.

        Returns:
            For each in order whether it was created: False where the name is taken.
        """
        return Creator(self._engine, actor=self._actor, release=release).create_many(wanted)
