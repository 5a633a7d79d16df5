"""The worker: claims, runs and settles executions, and carries the watchdog.

Four loops, each a thread that calls a step again and again: the heartbeat shows life, the fetcher
finds work, the settler records how runs ended, maintenance rescues and repairs. An error in one of
them is reported and the loop goes on.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Event

from sempre.engine.capacity import Capacity
from sempre.engine.claims_in_hand import ClaimsInHand
from sempre.engine.core import Engine
from sempre.engine.ends import SETTLE_WAIT, Ends
from sempre.engine.events import Happened
from sempre.engine.fetcher import Fetcher
from sempre.engine.heartbeat import Heartbeat, LocalHeartbeat
from sempre.engine.heartbeat_process import HeartbeatLost, longest_silence
from sempre.engine.identity import Identity
from sempre.engine.loops import REST_AFTER_ERROR, Loops
from sempre.engine.maintenance import Maintenance
from sempre.engine.settler import End
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import Refused, SempreError, StoreError, StoreGone
from sempre.ports.executor import Ended, Executor, Outcome, Run

__all__ = ["Worker"]

MOST_STUCK = 2
BURST_REST = 0.05


class Worker:
    """One session that works; its steps can be called one by one, or by its own threads."""

    def __init__(
        self,
        engine: Engine,
        spec: WorkerSpec,
        executor: Executor,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        """Be ready to work; nothing happens before the first step or `start`."""
        self.engine = engine
        self.spec = spec
        self.executor = executor
        self.capacity = Capacity(spec.hands, engine.clock)
        self.heartbeat = heartbeat or LocalHeartbeat(engine, wanted=spec.wanted)
        self.identity = Identity(engine)
        self.maintenance = Maintenance(engine, self.capacity, executor, spec.queues)
        self.fetcher = Fetcher(engine, spec=spec, begin=self._begin, called=self._call_watchdog)
        engine.bell.subscribe(self.fetcher.expect)
        engine.limits.subscribe(self._call_maintenance)
        self._claims = ClaimsInHand(engine)
        self._ends = Ends(engine, self.maintenance.logs)
        self._loops = Loops(self._failed)
        self.exhausted = Event()
        # Called with the reason why this process should be replaced; None if embedded.
        self.leave: Callable[[str], None] | None = None
        # Called once when an operator asks this worker to drain; it must not wait for the end.
        self.drain: Callable[[], None] | None = None

    # Steps

    def beat(self) -> float:
        """Show life; begin a new session if the old one is lost. Return seconds to rest."""
        try:
            if not self.heartbeat.session:
                self.heartbeat.register()
        except StoreGone:
            self.identity.in_doubt = True
        if self.identity.in_doubt:
            return self._begin_anew("")
        tick = self.heartbeat.beat()
        if self.heartbeat.has_news:
            self.heartbeat.allow_silence(
                longest_silence(self.capacity.held(), self.engine.settings), at_most=True
            )
        if self.heartbeat.error:
            self.engine.outage.failed(self.heartbeat.error)
        if self.heartbeat.answered and self.identity.is_lost(tick.store):
            return self._begin_anew(tick.store)
        if not tick.alive:
            self._lose_session()
            return 0.0
        self._end_unwanted()
        self._drain_on_request()
        self.fetcher.expect(tick.next_due_at)
        if self.heartbeat.answered:
            self.engine.outage.answered()
            self._claims.compare(tick.held)
            if (reading := self.heartbeat.clock_reading) is not None:
                self.maintenance.rescuer.note_beat(reading, has_expired=tick.has_expired)
            self.call("maintenance")
        return self.heartbeat.rest

    def fetch(self, *, patience: float = REST_AFTER_ERROR) -> float:
        """Wait for work and begin it, as far as hands are free; return seconds to rest."""
        for run in self.capacity.overstayed():
            self._ends.release(run)
        if self.heartbeat.is_lost:
            return REST_AFTER_ERROR
        # Also here: while every hand is stuck, no settlement would notice it.
        self._note_stuck()
        if self._claims.in_doubt:
            self._give_back_unknown()
        limit = self.capacity.wait_for_hand(patience)
        if not limit:
            self.fetcher.drain_wake_ups()
            return 0.0
        try:
            return self.fetcher.step(session=self.heartbeat.session, limit=limit)
        except StoreError:
            self._claims.in_doubt = True
            raise

    def fetch_due(self) -> float:
        """Begin due work, as `fetch`, but never wait for more: set `exhausted` instead."""
        limit = self.capacity.wait_for_hand(REST_AFTER_ERROR)
        if not limit:
            return 0.0
        # Asked before the scan: a run that ends meanwhile may leave work that waited for its end.
        was_idle = self._claims.is_empty
        if self.fetcher.scan(session=self.heartbeat.session, limit=limit):
            return 0.0
        if was_idle:
            self.exhausted.set()
        return BURST_REST

    def settle(self, *, wait: float = 0.0) -> float:
        """Record ends of runs, in one batch; return seconds to rest."""
        fetcher, capacity = self.fetcher, self.capacity
        batch, left = self._ends.settle(
            wait, lambda: not capacity.is_idle or fetcher.expects_start_within(SETTLE_WAIT)
        )
        if batch:
            self.capacity.recorded(_begun(batch) - _begun(left))
            waiting = {run.execution.fence for run, _ in left}
            settled = (run.execution for run, _ in batch)
            self._claims.remove(each for each in settled if each.fence not in waiting)
            self.fetcher.note_settled(batch, left)
            self._note_stuck()
        return 0.0

    def maintain(self) -> float:
        """Rescue, run the pass if it is due, see to its message; return seconds to rest."""
        if self.maintenance.step(self.heartbeat):
            self.fetcher.scan_now()
        return self.maintenance.rest

    # Threads

    def start(self, *, burst: bool = False) -> None:
        """Begin to work in threads, in a session; without one while the store is unavailable.

        In a burst only due work is run, and `exhausted` is set when nothing is left.
        """
        self.executor.start()
        try:
            self.heartbeat.register()
        except StoreError as error:
            if burst:
                raise
            self._failed("heartbeat", error)
        fetch = self.fetch_due if burst else self.fetch
        # The heartbeat and the settler go on until the last run is settled.
        settle = partial(self.settle, wait=REST_AFTER_ERROR)
        self._loops.begin("heartbeat", self.beat, end=self._loops.ending)
        self._loops.begin("fetcher", fetch, end=self._loops.stopping)
        self._loops.begin("settler", settle, end=self._loops.ending)
        self._loops.begin("maintenance", self.maintain, end=self._loops.stopping)

    def stop(self, *, drain: float | None = None) -> None:
        """Stop claiming at once, wait for runs, end the rest, end the session.

        A run that never began is given back. A run that is cut off has an unknown outcome, as after
        a lost lease: `on_unknown` decides.
        """
        self._loops.stopping.set()
        self._wake_all()
        longest = self.engine.settings.drain.total_seconds() if drain is None else drain
        # A claim may be under way: its executions have to be given back or run.
        self._loops.join("fetcher", seconds=longest)
        for run in self.capacity.overstayed(everything=True):
            self._ends.release(run)
        self.capacity.wait_until_idle(longest)
        self._write_logs_of_rest()
        # First of all: an execution that is recorded as cut off may begin elsewhere at once.
        self.executor.stop()
        self._cut_off()
        self._loops.ending.set()
        self._wake_all()
        self._loops.join(seconds=REST_AFTER_ERROR * 2)
        self.engine.bell.unsubscribe(self.fetcher.expect)
        self.engine.limits.unsubscribe(self._call_maintenance)
        self._settle_last()

    def _write_logs_of_rest(self) -> None:
        """Store the logs of runs that will be cut off."""
        try:
            self.maintenance.logs.write_running()
        except SempreError as error:
            self.engine.outage.failed(error)

    def _cut_off(self) -> None:
        """Record runs that the executor has dropped; runs that ended by themselves are recorded."""
        for run in self.capacity.running():
            cut, parked = self.capacity.finish(run.execution.fence, 0.0)
            if cut is not None:
                self._ends.cut_off(cut, self.engine.time.now())
            if parked is not None:
                self._ends.release(parked)

    def hurry(self) -> None:
        """Let a stop wait no longer for running jobs."""
        self.capacity.give_up()

    def _settle_last(self) -> None:
        """Record the last ends, and end the session; the lease ends what cannot be recorded."""
        try:
            self.settle()
            while self._ends.has_queued:
                self.settle()
            self.heartbeat.retire()
        except SempreError as error:
            self.engine.outage.failed(error)

    def call(self, name: str) -> None:
        """Let a loop of this worker step now, if the loop rests."""
        self._loops.call(name)

    def _failed(self, name: str, error: Exception) -> None:
        if isinstance(error, HeartbeatLost):
            self._leave(str(error))
        elif isinstance(error, StoreError):
            self.identity.in_doubt |= isinstance(error, StoreGone)
            self.engine.outage.failed(error)
        else:
            self.engine.events.emit(Happened.INTERNAL_ERROR, error=repr(error), where=name)

    def _wake_all(self) -> None:
        self._loops.call_all()
        self.capacity.wake()
        self.engine.bell.broker.wake()

    # Runs

    def _begin(self, runs: Sequence[Run]) -> None:
        """Run claimed executions as far as hands are free, and park the others."""
        self._claims.add(run.execution for run in runs)
        # After a pause longer than the lease, other workers have the executions by now.
        has_lost = self._loops.stopping.is_set() or self.heartbeat.is_lost
        session = "" if has_lost else self.heartbeat.session
        for run in runs:
            if run.execution.session != session:
                self._ends.release(run)
        ours = [run for run in runs if run.execution.session == session]
        self.heartbeat.allow_silence(longest_silence(ours, self.engine.settings))
        for run in self.capacity.admit(ours):
            self._submit(run)

    def _give_back_unknown(self) -> None:
        """Give back executions of a claim whose answer was lost: they never began."""
        for execution in self._claims.add_lost(self.heartbeat.session):
            self._ends.release(self.spec.run(execution, None, self.engine.settings))

    def _submit(self, run: Run) -> None:
        try:
            self.executor.submit(run, self._done)
        except Refused:
            # The executor was stopped meanwhile, so the run has not begun.
            self.capacity.finish(run.execution.fence, 0.0)
            self._ends.release(run)

    def _done(self, run: Run, outcome: Outcome) -> None:
        """Note an outcome, in any thread, and begin a parked run."""
        done, following = self.capacity.finish(run.execution.fence, outcome.seconds)
        if done is not None:
            self._ends.put(run, self._claims.correct(run, outcome))
        if following is not None:
            self._submit(following)

    def _note_stuck(self) -> None:
        """Count runs that are over but hold their thread; two are reason to replace the process."""
        stuck = self.executor.stuck
        self.capacity.set_stuck(stuck)
        if stuck >= MOST_STUCK:
            self._leave(f"{stuck} jobs do not end though they have timed out or were cancelled")

    def _leave(self, reason: str) -> None:
        if self.leave is not None and not self._loops.stopping.is_set():
            self.leave(reason)

    def _call_watchdog(self) -> None:
        self.maintenance.call_watchdog()
        self._call_maintenance()

    def _call_maintenance(self) -> None:
        self.call("maintenance")

    def _end_unwanted(self) -> None:
        """Cancel runs on request, and runs whose claim is no longer this session's."""
        tick = self.heartbeat.tick
        for execution_id in tick.cancelled:
            self.executor.cancel(execution_id, reason="requested")
        if not self.heartbeat.answered:
            return
        for run in self.capacity.running(since=self.heartbeat.asked_at):
            again = self.capacity.has_later(run)
            if run.execution.fence not in tick.held and not again:
                self._abandon(run, "it is no longer ours")

    def _drain_on_request(self) -> None:
        """Call `drain` once an operator asks for it."""
        if self.heartbeat.tick.drain and self.drain is not None:
            drain, self.drain = self.drain, None
            drain()

    def _abandon(self, run: Run, reason: str) -> None:
        """Cancel a run whose claim is lost."""
        self._claims.abandon(run.execution)
        self.executor.cancel(run.execution.id, reason=reason)

    def _lose_session(self) -> None:
        """Cancel every run, since other workers may have the executions, and end the session."""
        stopped = [run.execution.id for run in self.capacity.running()]
        facts = {"session": self.heartbeat.session, "executions": stopped}
        self.engine.events.emit(Happened.SESSION_LOST, **facts)
        self._give_up("the lease was lost")

    def _begin_anew(self, found: str) -> float:
        """Set the store up again, and begin without a run: the store has lost its rows."""
        self._give_up("the store is gone")
        self.identity.renew(found, fence=self._claims.highest)
        self.maintenance.watchdog.note_renewal()
        self.fetcher.scan_now()
        return 0.0

    def _give_up(self, reason: str) -> None:
        for run in self.capacity.overstayed(everything=True):
            self._ends.release(run)
        for run in self.capacity.running():
            self._abandon(run, reason)
        self.heartbeat.session = ""


def _begun(ends: Iterable[End]) -> int:
    """Return how many of these runs had begun."""
    return sum(outcome.ended is not Ended.RELEASED for _, outcome in ends)
