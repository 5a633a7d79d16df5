"""Healing: repairs are noted in the log of actions, one entry for a batch and a cause.

The engine repairs a lost ticket, an expired lease or a missing next row, and afterwards no row
records the repair; these entries do. They are bounded: an entry counts all that was repaired and
names the first few, and a cause of one target is written at most once in 10 s; repairs in between
are added to the next entry. Nothing is written where nothing was wrong. An entry that cannot be
written is dropped, and the error is reported: the repair itself is done by then.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from sempre.clock import Clock
from sempre.domain.action import Action
from sempre.engine.ids import new_id
from sempre.errors import SempreError
from sempre.ports.action_log import ActionLog
from sempre.ports.messages import Waiting

if TYPE_CHECKING:
    from sempre.domain.arguments import Json

__all__ = ["MOST_NAMED", "QUIET_FOR", "HealingLog", "Heals"]

MOST_NAMED = 50
"""The most executions or schedules that an entry names."""
QUIET_FOR = 10.0
"""In seconds, how long a cause of one target waits for its next entry."""


class Heals(StrEnum):
    """The causes of repairs, as the log of actions has them."""

    QUEUE_LOST = "queue lost"
    """The sentinel of a queue is gone: everything within the horizon was rung again."""
    TICKET_LOST = "ticket lost"
    """A sweep claimed executions whose tickets should have arrived before."""
    UNANNOUNCED = "unannounced"
    """Executions had no ticket on the broker and were rung."""
    LEASE_EXPIRED = "lease expired"
    """Executions were taken back from a worker that is gone."""
    NEXT_MISSING = "next execution missing"
    """A schedule had no next execution."""
    NEXT_WRONG = "next execution wrong"
    """The next execution of a schedule was not at its slot, or not as the schedule says."""
    CLOCK_AHEAD = "clock was ahead"
    """A schedule had been moved ahead by a clock that was wrong."""


@dataclass
class _Batch:
    """Repairs of one cause and target that are not written yet."""

    actor: str
    count: int = 0
    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class HealingLog:
    """Notes repairs of one process; callable from any thread."""

    def __init__(
        self,
        log: ActionLog,
        clock: Clock,
        *,
        now: Callable[[], datetime],
        failed: Callable[[Exception], None],
    ) -> None:
        """Begin without a repair.

        Args:
            log: takes the entries.
            clock: of this process.
            now: returns the store's now.
            failed: called with the error of an entry that could not be written.
        """
        self._log = log
        self._clock = clock
        self._now = now
        self._failed = failed
        self._lock = Lock()
        self._batches: dict[tuple[Heals, str], _Batch] = {}
        self._written_at: dict[tuple[Heals, str], float] = {}

    def add(
        self,
        cause: Heals,
        target: str,
        ids: Sequence[str],
        *,
        actor: str = "sempre",
        name: str = "",
    ) -> None:
        """Count a repair; `flush` writes it."""
        with self._lock:
            batch = self._batches.setdefault((cause, target), _Batch(actor))
            batch.count += max(1, len(ids)) if name else len(ids)
            batch.ids += ids[: max(0, MOST_NAMED - len(batch.ids))]
            if name and len(batch.names) < MOST_NAMED:
                batch.names.append(name)

    def add_waiting(self, cause: Heals, rows: Iterable[Waiting], *, actor: str) -> None:
        """Count executions that were rung, by queue."""
        for row in rows:
            self.add(cause, f"queue:{row.queue}", [row.id], actor=actor)

    def flush(self) -> None:
        """Write an entry for each cause and target, in one round trip; nothing if there is none.

        An entry that follows another too soon stays, and grows, until a later call.
        """
        actions = self._due() if self._batches else []
        if not actions:
            return
        try:
            self._log.record(actions)
        except SempreError as error:
            self._failed(error)

    def _due(self) -> list[Action]:
        with self._lock:
            elapsed = self._clock.elapsed()
            last = {key: at for key, at in self._written_at.items() if elapsed - at < QUIET_FOR}
            ready = [key for key in self._batches if key not in last]
            self._written_at = last | dict.fromkeys(ready, elapsed)
            taken = [(*key, self._batches.pop(key)) for key in ready]
        return [_action(cause, target, batch, self._now()) for cause, target, batch in taken]


def _action(cause: Heals, target: str, batch: _Batch, now: datetime) -> Action:
    after: dict[str, Json] = {"cause": cause.value, "count": batch.count}
    after |= {"executions": [*batch.ids]} if batch.ids else {}
    after |= {"schedules": [*batch.names]} if len(batch.names) > 1 else {}
    return Action(id=new_id(now), verb="heal", target=target, actor=batch.actor, after=after)
