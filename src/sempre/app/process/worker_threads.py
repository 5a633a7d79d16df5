"""A worker in threads of this process: what it runs, how it begins and how it ends."""

import logging
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sempre.app.process.open_descriptors import descriptors_of
from sempre.app.transactions.join import begin_effects
from sempre.engine.heartbeat import LocalHeartbeat
from sempre.engine.heartbeat_line import WorkerEnd
from sempre.engine.heartbeat_process import RemoteHeartbeat, fork_heartbeat_process
from sempre.engine.unserved import UnservedWatch
from sempre.engine.worker import Worker
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors.wording import counted
from sempre.executors import Executors
from sempre.ports.transactional import Effects
from sempre.urls import masked

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["Running"]

logger = logging.getLogger("sempre")


class Running:
    """A worker in threads of this process, from `begin` to `end`."""

    def __init__(
        self,
        app: "Sempre",
        *,
        queues: Iterable[str] | None,
        concurrency: int,
        sync: bool = True,
        forks: bool = False,
        burst: bool = False,
        begun: Callable[[], None] | None = None,
        retry: Callable[[Callable[[], object]], bool] | None = None,
        private: Iterable[int] = (),
    ) -> None:
        """Describe a worker; nothing happens before `begin`.

        Args:
            app: whose jobs run.
            queues: to serve; by default every declared queue.
            concurrency: the most runs at once.
            sync: whether the start brings the store to what the code declares.
            forks: whether a process of its own sends the heartbeats; then the worker must begin
                before any thread does.
            burst: whether the worker runs only what is due.
            begun: called before the first run.
            retry: makes an attempt until it succeeds; False if the worker is not to begin any more.
            private: further descriptors of this process that are kept from jobs.
        """
        self._given_private = tuple(private)
        self._app = app
        self._retry = retry or _once
        self._sync = sync
        self._forks = forks
        self._burst = burst
        self._begun = begun
        served = app.queues if queues is None else frozenset(queues)
        self.spec = WorkerSpec(app.tasks, served, concurrency)
        self.executors = self._new_executors()
        self._unserved_watch: UnservedWatch | None = None
        self.worker: Worker | None = None
        self._ending: Worker | None = None

    def begin(self) -> Self:
        """Start the worker, after bringing the store to what the code declares.

        On virtual time nothing is started: `TimeTravel` does the work.
        """
        if self._app.composition.is_virtual:
            return self
        self._app.narrate()
        # Both fork, which is safe only before the executors start threads.
        line = self._fork_pulse() if self._forks else None
        self.executors.private += self._private()
        self.executors.start()
        self._leave_to_others()
        if not self._retry(lambda: self._prepare(line)):
            self.executors.stop()
            if line is not None:
                line.close()
        elif self.worker is not None:
            self.worker.start(burst=self._burst)
            if not self._burst:
                self._unserved_watch = UnservedWatch(self._app.engine)
                self._unserved_watch.start()
            logger.info("working on %s", self._described())
        return self

    def _new_executors(self) -> Executors:
        tasks = self.spec.tasks
        return Executors(
            tasks.__getitem__,
            isolations={task.isolation for task in tasks.values()},
            forks=self._forks,
            clock=self._app.clock,
            broken=self._leave,
            begun=self._begun,
            opener=self._effects,
            tracer=self._app.tracer,
        )

    def _prepare(self, line: WorkerEnd | None) -> None:
        """Bring the store to what the code declares, and make a worker on it."""
        if self._sync:
            self._app.sync()
        engine = self._app.engine
        heartbeat = RemoteHeartbeat(engine, line) if line else None
        self.worker = Worker(engine, self.spec, self.executors, heartbeat)
        self.worker.identity.restore = self._restore

    def _restore(self, fence: int) -> None:
        """Set up a store again that was emptied, and sync it as at the start."""
        self._app.engine.store.upgrade(fence=fence)
        if self._sync:
            self._app.sync()

    def _private(self) -> list[int]:
        """Return the descriptors of this process that no child may reach.

        They include those of the store, if the program used the store before its worker begins. The
        line to the heartbeat process is left out: every fork closes it.
        """
        settings = self._app.settings
        return [*self._given_private, *descriptors_of(settings.store, settings.broker)]

    def _leave_to_others(self) -> None:
        """Drop jobs whose isolation is not available here: other workers may run them."""
        tasks = self.spec.tasks.items()
        missing = self.executors.unavailable
        able = {name: task for name, task in tasks if task.isolation not in missing}
        self.spec = WorkerSpec(able, self.spec.queues, self.spec.hands)

    def _leave(self, reason: str) -> None:
        """Have this process replaced, if a supervisor can replace it."""
        if self.worker is not None and self.worker.leave is not None:
            self.worker.leave(reason)

    def _effects(self, execution_id: str, fence: int) -> Effects:
        """Begin the transaction of a run, in the process that calls this."""
        return begin_effects(self._app.engine.store, execution_id, fence)

    def __repr__(self) -> str:
        """Show the jobs, the queues, and whether the worker has begun."""
        return f"<Running: {'begun' if self.worker else 'not begun'}, {self._what()}>"

    def _described(self) -> str:
        """Describe this worker for the first line of its log."""
        store = (
            masked(self._app.settings.store)
            if self._app.composition.can_fork
            else "a store in memory"
        )
        return f"{store}: {self._what()}"

    def _what(self) -> str:
        queues = ", ".join(sorted(self.spec.queues))
        return f"{counted(len(self.spec.tasks), 'job')}, queues {queues}, {self.spec.hands} at once"

    def _fork_pulse(self) -> WorkerEnd:
        app, wanted = self._app, self.spec.wanted
        beat, worker = app.settings.beat.total_seconds(), os.getpid()

        def make_heartbeat() -> LocalHeartbeat:
            return LocalHeartbeat(app.engine, wanted=wanted, pid=worker)

        return fork_heartbeat_process(make_heartbeat, clock=app.clock, beat=beat)

    def wait_until_exhausted(self) -> None:
        """Wait until a burst has run everything that was due."""
        if self.worker is not None:
            self.worker.exhausted.wait()

    def end(self, *, drain: float | None = None) -> None:
        """Stop claiming, wait for runs in flight, release the rest. A second call does nothing."""
        worker, self.worker = self.worker, None
        lookout, self._unserved_watch = self._unserved_watch, None
        if lookout is not None:
            lookout.stop()
        if worker is not None:
            self._ending = worker
            worker.stop(drain=drain)
            self._app.tracer.flush()

    def hurry(self) -> None:
        """Let an `end` under way wait no longer for runs in flight."""
        if self._ending is not None:
            self._ending.hurry()

    def __enter__(self) -> Self:
        """Start the worker."""
        return self.begin()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the worker."""
        self.end()

    async def __aenter__(self) -> Self:
        """Start the worker without blocking the event loop of the host."""
        import asyncio  # noqa: PLC0415 - most programs that import Sempre have no loop

        return await asyncio.to_thread(self.begin)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the worker without blocking the event loop of the host."""
        import asyncio  # noqa: PLC0415 - as above

        await asyncio.to_thread(self.end)


def _once(attempt: Callable[[], object]) -> bool:
    """Make an attempt once, and raise its error."""
    attempt()
    return True
