"""The fetcher: from a ticket, or from the store itself, to a run.

Work comes from two sources, which know nothing of each other: the broker (`ticket_source`) and the
store (`store_source`). Each says when its next step is due. One step of the fetcher:

| state | step |
|---|---|
| `store.next` has come, and the broker is silent or was listened to since the last scan | scan |
| `tickets.next_early` has come | claim the executions of kept tickets |
| slots are due soon, and the broker is silent | prefetch a page of them |
| otherwise | listen for tickets and wake-ups until the sooner of both sources' next steps |

While the broker delivers, tickets are read once between two scans: a backlog in the store must not
hold them up.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.core import Engine
from sempre.engine.settler import End
from sempre.engine.store_source import BLOCKED_SCAN, StoreSource
from sempre.engine.ticket_source import TicketSource
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.executor import Ended, Run

__all__ = ["Fetcher"]

LONGEST_WAIT = 60.0


class Fetcher:
    """Finds work for one worker."""

    def __init__(
        self,
        engine: Engine,
        *,
        spec: WorkerSpec,
        begin: Callable[[Sequence[Run]], None],
        called: Callable[[], None],
    ) -> None:
        """Hand claimed runs to `begin`; `called` is called for messages of the watchdog."""
        self._engine = engine
        self._begin_runs = begin
        wanted, self._claims = spec.wanted, Claims(engine, spec)
        self.tickets = TicketSource(
            engine, self._claims, wanted, begin=self._begin, call_watchdog=called
        )
        self.store = StoreSource(engine, self._claims, wanted, self._begin_found)
        self._has_listened = True

    # Reports of other parts, from any thread

    def expect(self, due_at: datetime | None) -> None:
        """Scan the store no later than an instant, if the broker is silent."""
        if due_at is not None and self._engine.bell.is_silent and self.store.expect(due_at):
            self._engine.bell.broker.wake()

    def scan_now(self) -> None:
        """Scan the store at the next step."""
        self.store.scan_now()

    def note_settled(self, batch: Iterable[End], left: Iterable[End]) -> None:
        """Claim slots that waited for runs to end, and plan those that follow successes.

        Args:
            batch: the ends that were to be recorded.
            left: those that are not recorded yet.
        """
        unsettled = {run.execution.id for run, _ in left}
        slots = [(run, outcome) for run, outcome in batch if run.schedule]
        for run, outcome in slots:
            identity = run.execution.id
            succeeded = outcome.ended is Ended.SUCCEEDED and identity not in unsettled
            self._claims.prefetch.note_end(identity, succeeded=succeeded)
        if slots and self.store.unblock():
            self._engine.bell.broker.wake()

    def expects_start_within(self, seconds: float) -> bool:
        """Return whether another execution is known to start soon."""
        return self.store.next_start - self._engine.clock.elapsed() <= seconds

    # Steps

    def step(self, *, session: str, limit: int) -> float:
        """Wait for work and begin at most `limit` runs; return seconds to rest."""
        self.tickets.tests.attend()
        now, silent = self._engine.clock.elapsed(), self._engine.bell.is_silent
        if self.store.next <= now and (silent or self._has_listened):
            self._has_listened = False
            self.store.step(session=session, limit=limit)
            return 0.0
        if self.tickets.next_early <= now:
            self.tickets.step(session=session, limit=limit)
            return 0.0
        wait = min(self.store.next, self.tickets.next) - now
        if self.store.read_ahead(wait):
            return 0.0
        return self._listen(session, limit, self.store.rest(max(0.0, min(LONGEST_WAIT, wait))))

    def scan(self, *, session: str, limit: int) -> int:
        """Begin due work of the store, at most `limit` runs, without waiting; return how many."""
        return self.store.scan(session=session, limit=limit)

    def drain_wake_ups(self) -> None:
        """Read wake-ups without waiting: they must not pile up while every hand is busy."""
        bell = self._engine.bell
        if not bell.carries and bell.broker.capabilities.shared:
            self._listen("", 0, 0.0)

    def _listen(self, session: str, limit: int, wait: float) -> float:
        self._has_listened = True
        if not self.tickets.listen(session=session, limit=limit, wait=wait):
            self.store.scan_now()
            return min(wait, self._engine.bell.breaker.rest, BLOCKED_SCAN)
        if self.tickets.was_woken:
            self.store.wake_up()
        else:
            self.store.peek()
        if self.tickets.tests.check():
            self.store.scan_now()
        return 0.0

    # Claim results

    def _begin(self, result: ClaimResult) -> int:
        """Begin claimed runs, ring their successors, open limits; return how many have begun."""
        if result.started:
            self._begin_runs(result.started)
        self.store.expect_starts(result.coming)
        if result.born:
            self._engine.bell.ring(result.born, self._engine.time.now())
        self._claims.open_limits(result)
        return len(result.started)

    def _begin_found(self, result: ClaimResult) -> int:
        """Begin runs that a scan found; test a broker that should have delivered their tickets."""
        begun = self._begin(result)
        found = [each.execution for each in result.started]
        self.tickets.tests.suspect(found, waited=result.waited)
        return begun
