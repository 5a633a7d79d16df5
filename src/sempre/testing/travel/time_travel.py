"""Time travel: the user's own application on virtual time, in one thread, as fast as it goes."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from types import TracebackType
from typing import Any, ParamSpec, Self

from sempre.app.application import Sempre
from sempre.app.jobs import Job
from sempre.app.options import Duration
from sempre.app.schedules.catalog import Schedules
from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.errors import InstantError, InvalidInput, NotFound, Refused, nearest
from sempre.errors.wording import written_instant
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_in_zone
from sempre.testing.travel.journey import Journey
from sempre.testing.travel.listing import all_arguments, listed, written

__all__ = ["TimeTravel"]

P = ParamSpec("P")


class TimeTravel:
    """An application on virtual time; made by `Sempre.testing`, entered by `with`.

    >>> from sempre import Sempre
    >>> app = Sempre("sqlite:///jobs.db")
    >>> @app.cron("30 2 * * *", timezone="Europe/Rome")
    ... def report() -> None: ...
    >>> with app.testing("2026-03-28 12:00Z") as t:
    ...     t.travel("2 days")
    ...     [str(each.started_at) for each in t.executions(report)]
    ['2026-03-29 01:00:00+00:00', '2026-03-30 00:30:00+00:00']

    Inside, the application has an empty store and a broker in memory, to which its schedules are
    brought; its own ones are not touched. Everything is done by the real engine: claims with their
    successors, retries, catch-up, overlap, the watchdog. Jobs are called in the thread that
    travels, async ones on an event loop of their own, isolation or not; a timeout ends no call.
    At one instant they go by priority, then by name, so that a journey is the same every time.
    One that raises is retried by its policy, and what it raised is the `reason` of its execution.

    Time passes only by `travel`, `travel_to` and `outage`, and only for the application: what
    else asks for the time gets the host's. A job finds its instant in `current().slot`.
    """

    def __init__(self, app: Sempre, start: datetime | str, *, call_jobs: bool = True) -> None:
        """Prepare to begin at an instant; see `Sempre.testing`."""
        self._app = app
        begin = read_in_zone("start", start, app.settings.timezone)
        self._journey = Journey(app, begin, call_jobs=call_jobs)
        self._stay = ExitStack()
        self._begun = False
        self._busy = False

    def __enter__(self) -> Self:
        """Let the application work on virtual time.

        Raises:
            Refused: the application travels already, or this journey is over.
        """
        if self._begun:
            raise Refused("a journey is made once; ask app.testing(...) for another one.")
        with ExitStack() as stay:
            stay.enter_context(self._app.composition.working_on(self._journey.engine))
            self._begun = True
            stay.callback(self._journey.executor.close)
            self._journey.begin()
            self._app.sync()
            self._stay = stay.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the application's own store; `executions` still answers afterwards."""
        self._stay.close()

    # Time

    @property
    def now(self) -> datetime:
        """The present of the journey."""
        return self._journey.clock.now()

    def travel(self, duration: Duration) -> None:
        """Let time pass and run due work in order; "0s" runs work that is due now."""
        length = read_duration("duration", duration)
        self._move(lambda: self._journey.travel_to(self.now + length))

    def travel_to(self, instant: datetime | str) -> None:
        """Let time pass until an instant; work that is due at that instant runs too.

        Raises:
            InstantError: the instant cannot be read, or lies in the past.
        """
        goal = read_in_zone("instant", instant, self._app.settings.timezone)
        if goal < self.now:
            raise InstantError("instant", goal, allowed=f"{written_instant(self.now)} or later")
        self._move(lambda: self._journey.travel_to(goal))

    def outage(self, duration: Duration) -> None:
        """Let time pass without any worker, then start a worker, which catches up.

        Executions that run when the outage begins are lost as in a crash; `on_unknown` decides.
        """
        length = read_duration("duration", duration)
        self._move(lambda: self._journey.outage(length))

    def lose_broker(self) -> None:
        """Let the broker lose all messages; no slot is lost, some start one sweep later."""
        self._journey.lose_broker()

    def takes(self, job: Job[..., Any] | str, duration: Duration) -> None:
        """Set how long runs of a job, or of a schedule by name, last from now on.

        By default runs take no time. A duration of a schedule takes precedence over its job's.

        Its function is called when the run starts; the run ends when that time is over, or its
        timeout before.
        """
        length = read_duration("duration", duration)
        self._check_known(job)
        self._journey.executor.takes[job if isinstance(job, str) else job.name] = length

    # What happened

    def executions(
        self, job: Job[..., Any] | str | None = None, state: State | str | None = None
    ) -> list[Execution]:
        """Return the executions that have started so far, in order of the first start.

        All of it, for a whole journey: retention, which `app.schedule(name).executions()` goes by,
        does not count here.

        Args:
            job: only of this job; or by a name, of a job or a schedule.
            state: only what is in this state now, started or not: "skipped", "missed",
                "scheduled" for what waits, and so on.

        Raises:
            NotFound: there is no job or schedule of that name.
            InvalidInput: there is no such state.
        """
        names = None if job is None else self._names(job)
        wanted = None if state is None else _state(state)
        return self._found(lambda row: (names is None or names(row)) and _is_in(row, wanted))

    def assert_enqueued(self, job: Job[P, Any], *args: P.args, **kwargs: P.kwargs) -> Execution:
        """Return the last execution that was enqueued of a job with these arguments.

        It may wait, run or have ended. Defaults count as given.

        Raises:
            AssertionError: there is none; the message lists what was enqueued instead.
            ArgumentsError: the arguments do not fit the job.
        """
        __tracebackhide__ = True
        wanted = all_arguments(job, job.bind(*args, **kwargs).args)
        kinds = (Kind.ENQUEUED, Kind.DERIVED)
        enqueued = self._found(lambda row: row.kind in kinds)
        same = [row for row in enqueued if row.snapshot.job == job.name]
        fitting = [row for row in same if all_arguments(job, row.snapshot.args) == wanted]
        if fitting:
            return fitting[-1]
        asked = f"{job.name} was not enqueued with {written(wanted)}"
        raise AssertionError(f"{asked}; enqueued were:\n{listed(same or enqueued)}")

    def assert_ran(self, job: Job[..., Any] | str, times: int | None = None) -> None:
        """Check that a job, or by name a schedule, was started so often, or at all.

        Retries of one execution count once, and one that failed counts too.

        Raises:
            AssertionError: the message lists what ran instead.
        """
        __tracebackhide__ = True
        ran = self.executions(job)
        if len(ran) == times or (times is None and ran):
            return
        name = job if isinstance(job, str) else job.name
        often = "at all" if times is None else f"{times} times"
        told = f"{len(ran)} times:" if ran else "never; what ran:"
        rows = ran or self.executions()
        raise AssertionError(f"{name} should have run {often}, and did {told}\n{listed(rows)}")

    # How

    def _move(self, move: Callable[[], None]) -> None:
        if self._busy or not self._app.composition.is_working_on(self._journey.engine):
            what = "a job cannot travel" if self._busy else "the journey is not under way"
            raise Refused(f"{what}; travel inside `with app.testing(...)`, outside of jobs.")
        self._busy = True
        try:
            move()
        finally:
            self._busy = False

    def _found(self, wanted: Callable[[Execution], bool]) -> list[Execution]:
        return sorted(filter(wanted, self._journey.store.everything()), key=_order)

    def _names(self, job: Job[..., Any] | str) -> Callable[[Execution], bool]:
        """Return whether an execution is of a job, or of a job or schedule by name."""
        self._check_known(job)
        if isinstance(job, str):
            return lambda row: job in (row.snapshot.name, row.snapshot.job)
        return lambda row: row.snapshot.job == job.name

    def _check_known(self, job: Job[..., Any] | str) -> None:
        known = {*self._app.declarations.tasks}
        if isinstance(job, str):
            known |= {each.name for each in Schedules(self._journey.engine)}
        name = job if isinstance(job, str) else job.name
        if name not in known:
            raise NotFound("job or schedule", name, hint=nearest(name, known))


def _state(state: State | str) -> State:
    if state in list(State):
        return State(state)
    allowed = ", ".join(State)
    raise InvalidInput("state", state, allowed=allowed, hint=nearest(str(state), list(State)))


def _is_in(row: Execution, state: State | None) -> bool:
    return row.first_started_at is not None if state is None else row.state is state


def _order(row: Execution) -> tuple[datetime, int, str]:
    return row.first_started_at or row.due_at, row.fence, row.id
