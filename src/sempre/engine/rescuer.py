"""The rescuer: ends the claims of workers that are gone, as the policy of each execution says."""

from datetime import datetime

from sempre.domain.action import Act
from sempre.domain.limit_keys import keys_of
from sempre.domain.planning import Plan, PlanningTime, plan_rescue
from sempre.engine.core import ClockReading, Engine
from sempre.engine.events import Happened
from sempre.engine.healing import Heals
from sempre.errors import UnknownGrid
from sempre.ports.messages import Candidate

__all__ = ["ClockComparison", "Rescuer"]

BATCH = 200
JUMP = 1.0


class ClockComparison:
    """The store's clock beside the steady clock of this process, from one reading to the next.

    An answer may have been long on its way: a reading only says between which two points of the
    steady clock the store's clock had its value. A difference beyond that is a jump.
    """

    def __init__(self) -> None:
        """Begin without a reading."""
        self._last: ClockReading | None = None

    def jump(self, reading: ClockReading) -> float:
        """Return by how many seconds the store's clock jumped since the last reading; 0 if not."""
        last, self._last = self._last, reading
        if last is None:
            return 0.0
        passed = (reading.now - last.now).total_seconds()
        least, most = reading.asked_at - last.answered_at, reading.answered_at - last.asked_at
        jump = passed - min(max(passed, least), most)
        return jump if abs(jump) > JUMP else 0.0


class Rescuer:
    """Rescues executions whose lease has expired.

    It queries the store when a heartbeat reports expired leases, and when no heartbeat was answered
    for the length of a sweep.
    """

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine
        self._clocks = ClockComparison()
        self._jumped_at: float | None = None
        self._knows_of_any = False
        self._query_at = 0.0
        self._past = 0

    def note_beat(self, reading: ClockReading, *, has_expired: bool) -> None:
        """Note the answer of a heartbeat; callable from any thread."""
        self._compare_clocks(reading)
        self._knows_of_any = self._knows_of_any or has_expired
        self._query_at = reading.answered_at + self._engine.settings.sweep.total_seconds()

    @property
    def rest(self) -> float:
        """Seconds to rest before the next step, unless a heartbeat reports expired leases."""
        return max(0.0, self._query_at - self._engine.clock.elapsed())

    def step(self) -> int:
        """Rescue executions whose lease may have expired; return how many."""
        if self.rest and not self._knows_of_any:
            return 0
        self._knows_of_any = False
        self._query_at = self._engine.clock.elapsed() + self._engine.settings.sweep.total_seconds()
        return self.rescue()

    def rescue(self) -> int:
        """Rescue executions whose lease has expired, as their policy says; return how many.

        After a jump of the store's clock every lease may seem to have expired: nothing is rescued
        for the length of one lease, in which live workers renew theirs.
        """
        while True:
            limit = BATCH + self._past
            asked_at = self._engine.clock.elapsed()
            reading = self._engine.store.expired(limit)
            lost = self._engine.read(reading)
            answered_at = self._engine.clock.elapsed()
            self._compare_clocks(ClockReading(reading.now, asked_at, answered_at))
            if self._clock_is_in_doubt():
                return 0
            rescued = self._rescue(lost, reading.now)
            seen = len(lost) + len(reading.unreadable)
            # The next query reads past rows that cannot be read or planned here.
            self._past = 2 * (seen - rescued)
            if rescued or seen < limit:
                return rescued

    def _compare_clocks(self, reading: ClockReading) -> None:
        jump = self._clocks.jump(reading)
        if jump:
            self._jumped_at = reading.answered_at
            self._engine.events.emit(Happened.CLOCK_JUMPED, seconds=jump)

    def _clock_is_in_doubt(self) -> bool:
        lease = self._engine.settings.lease.total_seconds()
        jumped_at, elapsed = self._jumped_at, self._engine.clock.elapsed()
        return jumped_at is not None and elapsed - jumped_at < lease

    def _rescue(self, lost: list[Candidate], now: datetime) -> int:
        moment = PlanningTime(now, self._engine.tzdata)
        planned = [(each.execution, self._plan(each, moment)) for each in lost]
        wanted = [(execution, plan) for execution, plan in planned if plan and not plan.is_empty]
        orders = [self._engine.order(plan, _act_of(plan)) for _, plan in wanted]
        answers = self._engine.store.apply(orders) if orders else []
        rescued, waiting = 0, []
        for (execution, plan), applied in zip(wanted, answers, strict=True):
            if applied:
                rescued += 1
                waiting += [each.after for each in plan.changes if each.after.is_live]
                facts = {"execution": execution, "session": execution.session}
                self._engine.events.emit(Happened.RESCUED, **facts)
                worker = f"worker:{execution.session}"
                self._engine.healing.add(Heals.LEASE_EXPIRED, worker, [execution.id])
        self._engine.bell.ring(waiting, now)
        self._engine.limits.open(keys_of(execution for execution, _ in wanted))
        self._engine.healing.flush()
        return rescued

    def _plan(self, candidate: Candidate, moment: PlanningTime) -> Plan | None:
        """Plan for a lost run; None if this process cannot."""
        row, view, events = candidate.execution, candidate.view, self._engine.events
        schedule, rows = (view.schedule, view.rows) if view else (None, ())
        try:
            return plan_rescue(schedule, row, rows, moment)
        except UnknownGrid as error:
            events.emit(Happened.UNKNOWN_GRID, schedule=row.snapshot.name, error=str(error))
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            events.emit(Happened.FAULTY, schedule=row.snapshot.name, error=repr(error))
        return None


def _act_of(plan: Plan) -> Act | None:
    """Return the entry for the log if a plan pauses its schedule, as on_unknown="hold" does."""
    before, after = plan.base, plan.schedule
    if before is None or after is None or after.pause is None or after.pause == before.pause:
        return None
    return Act("pause", f"schedule:{after.name}", after.pause.actor, after.pause.note)
