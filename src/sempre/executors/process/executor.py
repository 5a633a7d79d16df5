"""The process executor of a worker: begins runs in child processes, and ends these runs."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import timedelta

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.current import Current
from sempre.executors.effects import Opener
from sempre.executors.job_call import cancelled
from sempre.executors.link import Link
from sempre.executors.process.child_main import ChildMain, encode_call
from sempre.executors.process.child_runs import ChildRuns
from sempre.executors.process.children import Children, ChildRun
from sempre.executors.process.descriptors import disconnect_after_fork
from sempre.executors.process.listener import SERVER_DIED, Listener
from sempre.executors.process.server_process import ServerProcess, start_server
from sempre.executors.process.time_limits import TimeLimits
from sempre.ports.executor import Ended, Outcome, Progress, Run, Task
from sempre.ports.tracing import Tracer

__all__ = ["ProcessExecutor"]

_EXITED_AT_ONCE = "it could not begin: its process ended at once"


class ProcessExecutor:
    """An executor that forks one child for each run.

    A child that crashes, is killed or uses up its memory harms no other run. A child whose time is
    over, or that is cancelled, gets SIGTERM and after `grace` SIGKILL, each with every process that
    it started; its outcome is reported when it has exited. The fork server does that, so a limit
    holds also while a job in a thread of the worker holds the interpreter. If the worker dies, its
    children are killed. If the fork server dies, its children die and no run can begin any more:
    the worker has to be replaced.

    A child begins as a copy of this process at the start, with its modules and its jobs.
    Connections that were open then must not be used. A random generator other than Python's own
    begins in one state in every child.
    """

    def __init__(
        self,
        lookup: Callable[[str], Task],
        *,
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        broken: Callable[[str], None] | None = None,
        opener: Opener | None = None,
        private: Collection[int] = (),
        tracer: Tracer | None = None,
    ) -> None:
        """Make an executor; `lookup` returns a task by name, or raises KeyError.

        If no run can begin any more, `broken` is called with the reason. The `private` descriptors
        of this process lead to /dev/null in children, and in processes that jobs fork here. The
        `tracer` joins the spans of a child to the span of its run.
        """
        self._private = private
        self._broken = broken
        self._clock = clock or SystemClock()
        seconds = grace.total_seconds()
        self._child_main = ChildMain(lookup, self._clock, opener, tracer)
        self._limits = TimeLimits(self._clock, seconds)
        self._runs = ChildRuns(self._clock, seconds, self._give_up)
        self._started: tuple[ServerProcess, Children, Listener] | None = None
        self._stopped = False

    def start(self) -> None:
        """Fork the fork server, then begin to listen to the fork server.

        Raises:
            Refused: this process has threads already.
        """
        if self._started is not None:
            return
        server = start_server(self._child_main, self._limits, self._private)
        # After the fork: the descriptors of the listener are for this process alone.
        children = Children(server)
        listener = Listener(server, children, self._runs, self._broken)
        self._started = server, children, listener
        disconnect_after_fork(self._descriptors)
        listener.start()

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was not started, or was stopped.
        """
        if self._started is None or self._stopped:
            raise Refused("the executor is not running: start() it first, and submit before stop()")
        server, children, _ = self._started
        if not server.is_running:
            # No fault of the job: a crash costs none of its retries.
            error = f"it could not begin: {SERVER_DIED}; restart the worker"
            done(run, Outcome(Ended.CRASHED, error=error))
            return
        began = self._clock.elapsed()
        over_at = None if run.timeout is None else began + run.timeout.total_seconds()
        current = Current.of(run, began=began, clock=self._clock, link=Link())
        flight = ChildRun(run, done, current, began, over_at=over_at)
        self._runs.add(flight)
        if (outcome := _start(flight, children)) is not None:
            self._runs.end(flight, outcome)
        with suppress(OSError):
            # The next run will order its child, if need be.
            children.fork_ahead()

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end, with SIGTERM and later SIGKILL; False for an unknown run."""
        flights = self._runs.of(execution_id)
        for flight in flights:
            self._runs.ask_to_end(flight, cancelled(reason), reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of each run that has reported some, by execution id."""
        return self._runs.progress()

    def logs(self) -> Mapping[int, str]:
        """Return the log of each run that has logged, by fence."""
        return self._runs.logs()

    @property
    def stuck(self) -> int:
        """Number of children that did not end after SIGKILL."""
        return self._runs.stuck

    def stop(self) -> None:
        """Kill every child with its subprocesses, report no outcome, and end the fork server."""
        self._stopped = True
        self._runs.abandon()
        if self._started is not None:
            _, _, listener = self._started
            listener.stop(2 * self._runs.grace)

    def _descriptors(self) -> list[int]:
        if self._started is None:
            return [*self._private]
        _, _, listener = self._started
        return [*self._private, *listener.descriptors()]

    def _give_up(self, flight: ChildRun) -> None:
        if self._started is not None:
            _, _, listener = self._started
            listener.give_up(flight)


def _start(flight: ChildRun, children: Children) -> Outcome | None:
    """Give a run to a child; return its outcome if no child could get the run."""
    call = encode_call(flight.run, flight.over_at)
    try:
        with flight.starting:
            is_started = children.start(flight, call)
    except ConnectionError as error:
        return Outcome(Ended.CRASHED, error=f"{SERVER_DIED} ({error})")
    except OSError as error:
        return Outcome(Ended.FAILED, error=f"it could not begin: {error}")
    return None if is_started else Outcome(Ended.CRASHED, error=_EXITED_AT_ONCE)
