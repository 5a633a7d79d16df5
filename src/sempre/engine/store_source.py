"""The store as a source of work: when a worker scans, and which slots it starts without a scan.

Where the store is the broker, or the broker is down, a worker wakes each time that something is
due. Elsewhere it scans once in a sweep, for what the broker should have reported. A scan claims due
rows at once, whether or not a ticket is on its way: the claim is safe either way.

A wake asks what it has reason to ask. Executions that are known by id, and whose starts are planned
(`engine.prefetch`), are claimed without a query. Everything else needs a scan:

| state | set | ends | effect |
|---|---|---|---|
| `_sweep_at` | at each scan | at the next scan | a scan then; never without a broker |
| `_times`: scans | by heartbeats, rings, wake-ups, `next_due` | at a scan | a scan then |
| `_times`: starts | by own claims and the window | when due | a start if planned, else a scan |
| `_is_behind` | a scan filled its limit, or a successor is due | at a scan | a scan after tickets |
| `_window_at` | at each window | when passed | `next_due` is asked, and no window before |
| `_covered_until` | at each window | in 2 s, by a wake-up | what comes is known |
| `_scan.blocked` | at each scan | `unblock`, a scan | what is due is scanned after a second |

The window: where known slots come within two seconds, a scan ends by listing all that comes until
then, of other processes too. Inside the window no further query is needed; at its end is a scan.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.core import Engine
from sempre.engine.deliveries import REFUSED_RETRY, seconds_until
from sempre.engine.kind_turns import WorkKind
from sempre.engine.peeks import Peeks
from sempre.engine.scan import Scan
from sempre.engine.throttle import Throttle
from sempre.engine.wake_times import NEVER, WakeTimes
from sempre.ports.messages import Wanted

__all__ = ["BLOCKED_SCAN", "StoreSource"]

BLOCKED_SCAN = 1.0
DEAF_SCAN = 1.0
# How often, at most, a worker that has no free hand left wakes others.
HANDED_OVER = 1.0
WINDOW = 2.0
MOST_IN_WINDOW = 5000


class StoreSource:
    """Finds work for one worker in its store."""

    def __init__(
        self, engine: Engine, claims: Claims, wanted: Wanted, begin: Callable[[ClaimResult], int]
    ) -> None:
        """Hand what was claimed to `begin`, which returns how many have begun."""
        self._engine = engine
        self._claims = claims
        self.prefetch = claims.prefetch
        self._wanted = wanted
        self._begin = begin
        self._scan = Scan(engine, claims, wanted, self._begin_found)
        self._times = WakeTimes(engine.clock)
        self._peeks = Peeks(engine, wanted)
        self._handing_over = Throttle(engine.clock, seconds=HANDED_OVER)
        self._sweep_at = 0.0
        self._window_at = 0.0
        self._covered_until = 0.0
        self._is_behind = False

    @property
    def next(self) -> float:
        """When to step next, by the steady clock."""
        if self._engine.bell.is_silent:
            return min(self._sweep_at, self._times.next)
        return 0.0 if self._is_behind else self._sweep_at

    @property
    def next_start(self) -> float:
        """When the next known execution is due, by the steady clock."""
        return self._times.next_start

    # What others report, from any thread

    def expect(self, due_at: datetime) -> bool:
        """Scan no later than an instant; True if that is sooner than any scan that was planned."""
        wait = seconds_until(due_at, self._engine.time.now())
        return self._times.add_scan(self._patient(wait), due_at)

    def expect_starts(self, due: Mapping[str, datetime]) -> None:
        """Wake when these executions are due, by id: this worker has created them."""
        now = self._engine.time.now()
        if self._engine.bell.is_silent:
            for identity, due_at in due.items():
                self._times.add_start(self._patient(seconds_until(due_at, now)), identity)

    def scan_now(self) -> None:
        """Scan at the next step, and ask anew what comes: other processes may have changed it."""
        self._covered_until = 0.0
        self._times.scan_now()

    def wake_up(self) -> None:
        """Scan at the next step, since another process reports work: mostly a first enqueue."""
        if self._scan.has_emptied:
            self._scan.turns.put_first(WorkKind.ONE_OFF)
        self.scan_now()

    def unblock(self) -> bool:
        """Scan again for slots that waited for other runs to end; True if there are any."""
        if not self._scan.blocked:
            return False
        self._scan.blocked, self._is_behind = set(), True
        self._times.scan_now()
        return True

    # Steps

    def step(self, *, session: str, limit: int) -> float:
        """Begin what is due, at most `limit`; return when to step next."""
        now, due = self._engine.clock.elapsed(), self._times.pop_starts()
        times = (self._times.next_scan, self._sweep_at)
        needs_scan = not self._engine.bell.is_silent or min(times) <= now
        if needs_scan or (due and not self._start_planned(due, session, limit)):
            self._run_scan(session, limit, expects_slots=bool(due))
        return self.next

    def scan(self, *, session: str, limit: int) -> int:
        """Begin what is due, at most `limit`, by one scan; return how many have begun."""
        return self._scan.run(session=session, limit=limit)

    def read_ahead(self, wait: float) -> bool:
        """Plan slots that come soon, if the next wake is in so many seconds; False if none."""
        return self._engine.bell.is_silent and self.prefetch.step(wait)

    def rest(self, wait: float) -> float:
        """Return for how many seconds to wait, at most so many, before anything is to be asked."""
        if self._engine.bell.is_silent:
            wait = self.prefetch.rest(wait)
        return self._peeks.rest(wait)

    def peek(self) -> None:
        """Ask when the first row is due, where no wake-up reaches this worker."""
        if self._peeks.is_due and (due_at := self._peeks.first_due()) is not None:
            self.expect(due_at)

    def _start_planned(self, due: list[str], session: str, limit: int) -> bool:
        """Start executions that are due and planned; False if none of them is planned."""
        result = self._claims.planned(due, session=session, limit=limit)
        begun = self._begin(result)
        tried = begun + len(result.refused)
        if result.refused or tried < len(due):
            self._times.scan_now()
        if begun >= limit:
            self._hand_over()
        return tried > 0

    def _run_scan(self, session: str, limit: int, *, expects_slots: bool) -> None:
        expected = self._prepare_scan(expects_slots=expects_slots)
        begun = self.scan(session=session, limit=limit)
        self._peeks.put_off(found=begun > 0)
        self._plan_repeat()
        if begun >= limit or self.prefetch.knows_more:
            self._is_behind = True
            self._times.scan_now()
            self._hand_over()
        elif self._engine.bell.is_silent:
            self._look_ahead()
        for due_at in expected:
            # The clock of this process may be ahead of the store's.
            if due_at > self._engine.time.now():
                self.expect(due_at)

    def _begin_found(self, result: ClaimResult) -> int:
        """Begin what a scan found; a successor that is due too is reason for another scan."""
        begun, now = self._begin(result), self._engine.time.now()
        self._times.forget_starts(each.execution.id for each in result.started)
        self._is_behind = self._is_behind or any(at <= now for at in result.coming.values())
        return begun

    def _prepare_scan(self, *, expects_slots: bool) -> list[datetime]:
        """Forget why to scan; return what should be due by now."""
        sweep = self._engine.clock.elapsed() + self._engine.settings.sweep.total_seconds()
        self._sweep_at = sweep if self._engine.bell.carries else NEVER
        self._is_behind = False
        expected = self._times.pop_scans()
        if expected or expects_slots:
            self._scan.turns.expect(WorkKind.SLOTS)
        return expected

    def _plan_repeat(self) -> None:
        """Scan again soon for slots that were refused, or that wait for others."""
        if self._scan.is_refused:
            # After a pause: if the store refuses this session, only the next heartbeat reports it.
            self._times.add_scan(REFUSED_RETRY)
            self._sweep_at = min(self._sweep_at, self._engine.clock.elapsed() + REFUSED_RETRY)
        elif self._scan.blocked:
            self._times.add_scan(BLOCKED_SCAN)

    def _look_ahead(self) -> None:
        """Find out when to scan next, for rows of other processes too."""
        if self._engine.bell.deaf:
            # Nobody rings: the broker delivers nothing.
            self._times.add_scan(DEAF_SCAN)
        if self._covered_until > self._engine.clock.elapsed():
            return
        if not self._read_window():
            due_at = self._engine.read(self._engine.store.next_due(self._wanted))
            if due_at is not None:
                self.expect(due_at)

    def _read_window(self) -> bool:
        """Note all that is due within the window; False if there is no need, or too much."""
        now = self._engine.clock.elapsed()
        if self._window_at > now or self._times.next_start > now + WINDOW:
            return False
        self._window_at = now + WINDOW / 4
        horizon, queues = timedelta(seconds=WINDOW), self._wanted.queues
        reading = self._engine.store.waiting(
            queues, horizon=horizon, after="", limit=MOST_IN_WINDOW
        )
        page = self._engine.read(reading)
        if page.after:
            return False
        for row in page.items:
            if row.due_at > reading.now:
                self._times.add_start(seconds_until(row.due_at, reading.now), row.id)
        self._times.add_scan(WINDOW)
        self._covered_until = now + WINDOW
        return True

    def _hand_over(self) -> None:
        """Wake other workers: they do not know the successors that this one has created."""
        bell = self._engine.bell
        if not bell.carries:
            self._handing_over.run(bell.wake_others)

    def _patient(self, wait: float) -> float:
        """Return how long to wait: while slots are blocked, a due one may be such a slot."""
        return max(wait, BLOCKED_SCAN) if self._scan.blocked and not wait else wait
