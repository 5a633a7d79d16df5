"""Import: the records of a file, loaded into a store batch by batch."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TypeVar

from sempre.app.transfer.files import Contents
from sempre.app.transfer.lines import Line
from sempre.domain.action import Action
from sempre.domain.execution import Execution
from sempre.domain.limit_keys import PARKED
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.domain.values import copy_with
from sempre.engine.ids import new_id
from sempre.errors import Refused
from sempre.ports.load import Record
from sempre.ports.messages import ScheduleQuery
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = ["FAILED", "RERUN", "Import", "check_target"]

T = TypeVar("T")
PAGE = 500
AT_ONCE = 200
"""How many records one operation of the store loads."""
RERUN = "imported: it ran elsewhere"
FAILED = "unknown outcome: it ran when exported"


def check_target(store: Store, contents: Contents, *, merge: bool) -> None:
    """Raise Refused if a store must not take the records of a file.

    A store with other schedules takes them if `merge` is set, unless a name is used twice.
    """
    for schedule in _schedules(store):
        name = schedule.name
        if contents.names.get(name, schedule.id) != schedule.id:
            raise Refused(
                f'the schedule "{name}" is in the store and, with another id, in the file: rename '
                "or delete the schedule in the store."
            )
        if schedule.id not in contents.schedules and not merge:
            raise Refused(
                f'the store has the schedule "{name}", which is not in the file: import into an '
                "empty store, or add the file to this store with --merge."
            )


def _schedules(store: Store) -> Iterator[Schedule]:
    return walk_pages(lambda after: store.schedules(ScheduleQuery(limit=PAGE, after=after)).value)


@dataclass(frozen=True)
class Import:
    """The import of a file that was examined into a store that was checked.

    Attributes:
        contents: what the file contains.
        rerun_running: whether executions that ran when exported wait for another run; if not, they
            have failed.
    """

    store: Store
    contents: Contents
    rerun_running: bool = False

    def load(self, lines: Iterable[Line], *, show: Callable[[int], None]) -> int:
        """Load the records of a file; return how many the store did not know."""
        self.store.upgrade(fence=self.contents.fence)
        now = self.store.last_pass().now
        known = {each.name for each in self.store.switches().value}
        holders = known | self.contents.switches
        written = 0
        for batch in _batches(lines):
            for switch in (each for each in batch if isinstance(each, Switch)):
                if switch.name not in known:
                    self.store.switch(switch, off=True)
                    written += 1
            records = [each for each in batch if not isinstance(each, Switch)]
            settled = (self._settled(each, now) for each in records)
            written += self.store.load([_freed(each, holders) for each in settled])
            show(len(batch))
        return written

    def record(self, written: int, *, actor: str, note: str = "") -> None:
        """Add the import to the log of actions."""
        action = Action(
            id=new_id(self.store.last_pass().now),
            verb="import",
            target=f"store:{self.contents.store}",
            actor=actor,
            note=note,
            after={"written": written},
        )
        self.store.record([action])

    def _settled(self, record: Record, now: datetime) -> Record:
        """Return a record; an execution that ran when exported does not run here."""
        if not isinstance(record, Execution) or record.state is not State.RUNNING:
            return record
        if self.rerun_running:
            return record.to(State.SCHEDULED, due_at=now, reason=RERUN, session="")
        ended = self.contents.exported_at
        return record.to(State.FAILED, finished_at=ended, reason=FAILED, session="")


def _freed(record: Record, switches: Collection[str]) -> Record:
    """Return a record; a switch that was over when exported holds no execution here."""
    holder = record.held_by if isinstance(record, Execution) else ""
    if not isinstance(record, Execution) or holder.startswith(PARKED) or holder in switches:
        return record
    return copy_with(record, held_by="")


def _batches(lines: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(lines)
    while batch := list(islice(rest, AT_ONCE)):
        yield batch
