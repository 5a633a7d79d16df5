"""Sweeping: take back what workers that are gone still hold."""

from datetime import datetime

from sempre.domain.planning import Plan, PlanningTime, plan_rescue
from sempre.engine.core import Engine, Told
from sempre.engine.events import Happened
from sempre.errors import UnknownGrid
from sempre.ports.messages import Candidate

__all__ = ["Comparison", "Sweeper"]

BATCH = 200
JUMP = 1.0


class Comparison:
    """The store's clock beside our own steady one, from one question to the next.

    An answer may have been long on its way, so that each tells only between which two points of
    our clock the store's had its value. What no way explains is a jump.
    """

    def __init__(self) -> None:
        """Begin with nothing to compare with."""
        self._last: Told | None = None

    def jump(self, told: Told) -> float:
        """Return by how many seconds the store's clock has jumped since the last time; 0 if not."""
        last, self._last = self._last, told
        if last is None:
            return 0.0
        passed = (told.now - last.now).total_seconds()
        least, most = told.asked_at - last.answered_at, told.answered_at - last.asked_at
        jump = passed - min(max(passed, least), most)
        return jump if abs(jump) > JUMP else 0.0


class Sweeper:
    """Rescues executions whose lease has expired.

    It asks the store for them when a beat has told that there are any, and when no beat has told
    anything for the length of a sweep.
    """

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine
        self._clocks = Comparison()
        self._jumped_at: float | None = None
        self._knows_of_any = False
        self._look_at = 0.0
        self._past = 0

    def hear(self, told: Told, *, has_expired: bool) -> None:
        """Take in what a beat has told; callable from any thread."""
        self._compare_clocks(told)
        self._knows_of_any = self._knows_of_any or has_expired
        self._look_at = told.answered_at + self._engine.settings.sweep.total_seconds()

    @property
    def rest(self) -> float:
        """How long to rest before the next step, unless a beat tells something."""
        return max(0.0, self._look_at - self._engine.clock.elapsed())

    def step(self) -> int:
        """Take back what has expired, if anything may have; return how many."""
        if self.rest and not self._knows_of_any:
            return 0
        self._knows_of_any = False
        self._look_at = self._engine.clock.elapsed() + self._engine.settings.sweep.total_seconds()
        return self.rescue()

    def rescue(self) -> int:
        """Take expired executions back, as their policy says; return how many.

        If the store's clock has just jumped, everybody's lease may seem to have expired: nothing
        is taken back for the length of one lease, in which the living show that they live.
        """
        while True:
            limit = BATCH + self._past
            asked_at = self._engine.clock.elapsed()
            reading = self._engine.store.expired(limit)
            lost = self._engine.read(reading)
            self._compare_clocks(Told(reading.now, asked_at, self._engine.clock.elapsed()))
            if self._clock_is_in_doubt():
                return 0
            rescued = self._take_back(lost, reading.now)
            seen = len(lost) + len(reading.unreadable)
            # What cannot be read or planned here is looked past: it would hide the others.
            self._past = 2 * (seen - rescued)
            if rescued or seen < limit:
                return rescued

    def _compare_clocks(self, told: Told) -> None:
        jump = self._clocks.jump(told)
        if jump:
            self._jumped_at = told.answered_at
            self._engine.events.tell(Happened.CLOCK_JUMPED, seconds=jump)

    def _clock_is_in_doubt(self) -> bool:
        lease = self._engine.settings.lease.total_seconds()
        jumped_at, elapsed = self._jumped_at, self._engine.clock.elapsed()
        return jumped_at is not None and elapsed - jumped_at < lease

    def _take_back(self, lost: list[Candidate], now: datetime) -> int:
        moment = PlanningTime(now, self._engine.tzdata)
        planned = [(each.execution, self._plan(each, moment)) for each in lost]
        wanted = [(execution, plan) for execution, plan in planned if plan and not plan.is_empty]
        orders = [self._engine.order(plan) for _, plan in wanted]
        answers = self._engine.store.apply(orders) if orders else []
        rescued, waiting = 0, []
        for (execution, plan), applied in zip(wanted, answers, strict=True):
            if applied:
                rescued += 1
                waiting += [each.after for each in plan.changes if each.after.is_live]
                facts = {"execution": execution, "session": execution.session}
                self._engine.events.tell(Happened.RESCUED, **facts)
        self._engine.bell.ring(waiting, now)
        return rescued

    def _plan(self, candidate: Candidate, moment: PlanningTime) -> Plan | None:
        """Return what becomes of a lost run; None if only others can tell, or nobody."""
        row, view, events = candidate.execution, candidate.view, self._engine.events
        schedule, rows = (view.schedule, view.rows) if view else (None, ())
        try:
            return plan_rescue(schedule, row, rows, moment)
        except UnknownGrid as error:
            events.tell(Happened.UNKNOWN_GRID, schedule=row.snapshot.name, error=str(error))
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            events.tell(Happened.FAULTY, schedule=row.snapshot.name, error=repr(error))
        return None
