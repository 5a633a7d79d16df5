"""The worker: claims, runs and settles executions, and carries the watchdog.

Four loops, each a thread that calls a step again and again: the heart shows life, the fetcher
finds work, the settler records how it ended, maintenance takes back and repairs. An error in one
of them is told of and the loop goes on.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Event

from sempre.engine.capacity import Capacity
from sempre.engine.core import Engine
from sempre.engine.ends import SETTLE_WAIT, End, Ends
from sempre.engine.events import Happened
from sempre.engine.fetcher import Fetcher
from sempre.engine.holding import Holdings
from sempre.engine.identity import Identity
from sempre.engine.loops import REST_AFTER_ERROR, Loops
from sempre.engine.pass_turn import PassTurn
from sempre.engine.pulse import DistantHeart, PulseLost, silence_of
from sempre.engine.reporting import Reporter
from sempre.engine.sessions import Heart
from sempre.engine.settling import Settler
from sempre.engine.sweeping import Sweeper
from sempre.engine.watchdog import Watchdog
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
        heart: Heart | DistantHeart | None = None,
    ) -> None:
        """Be ready to work; nothing happens before the first step or `start`."""
        self.engine = engine
        self.spec = spec
        self.executor = executor
        self.capacity = Capacity(spec.hands, engine.clock)
        self.heart = heart or Heart(engine, wanted=spec.wanted)
        self.watchdog = Watchdog(engine, queues=spec.queues)
        self.fetcher = Fetcher(engine, spec=spec, begin=self._begin, called=self._call_watchdog)
        engine.bell.listen(self.fetcher.expect)
        self.identity = Identity(engine)
        self._holdings = Holdings(engine)
        self._settler = Settler(engine)
        self._sweeper = Sweeper(engine)
        self._reporter = Reporter(engine, self.capacity, executor)
        self._ends = Ends()
        self._unsettled: list[End] = []
        self._called = False
        self._turn = PassTurn(engine)
        self._stopping = Event()
        self._ending = Event()
        self.exhausted = Event()
        self._loops = Loops(self._failed)
        # Whom to tell that this process should be replaced by a fresh one; nobody if embedded.
        self.leave: Callable[[str], None] | None = None

    # Steps

    def beat(self) -> float:
        """Show life; begin a new session if the old one is lost. Return the time to the next."""
        try:
            if not self.heart.session:
                self.heart.register()
        except StoreGone:
            self.identity.in_doubt = True
        if self.identity.in_doubt:
            return self._begin_anew("")
        tick = self.heart.beat()
        if self.heart.heard:
            self.heart.allow(silence_of(self.capacity.held(), self.engine.settings), at_most=True)
        if self.heart.error:
            self.engine.outage.failed(self.heart.error)
        if self.heart.answered and self.identity.is_lost(tick.store):
            return self._begin_anew(tick.store)
        if not tick.alive:
            self._lose_session()
            return 0.0
        self._end_unwanted()
        self.fetcher.expect(tick.next_due_at)
        if self.heart.answered:
            self.engine.outage.answered()
            self._holdings.compare(tick.held)
            if self.heart.told is not None:
                self._sweeper.hear(self.heart.told, has_expired=tick.has_expired)
            self.call("maintenance")
        return self.heart.rest

    def fetch(self, *, patience: float = REST_AFTER_ERROR) -> float:
        """Find work for free hands, waiting for it; return how long to rest before the next."""
        for run in self.capacity.overstayed():
            self._ends.release(run)
        if self.heart.is_lost:
            return REST_AFTER_ERROR
        # Also here: while every hand is stuck nothing is settled, and nobody else would notice.
        self._note_stuck()
        if self._holdings.in_doubt:
            self._give_back_unknown()
        limit = self.capacity.wait_for_hand(patience)
        if not limit:
            self.fetcher.drain_wake_ups()
            return 0.0
        try:
            return self.fetcher.step(session=self.heart.session, limit=limit)
        except StoreError:
            self._holdings.in_doubt = True
            raise

    def fetch_due(self) -> float:
        """Begin what is due, as `fetch`, but never wait for more: set `exhausted` instead."""
        limit = self.capacity.wait_for_hand(REST_AFTER_ERROR)
        if not limit:
            return 0.0
        if self.fetcher.scan(session=self.heart.session, limit=limit):
            return 0.0
        if self.capacity.is_idle and self._ends.empty() and not self._unsettled:
            self.exhausted.set()
        return BURST_REST

    def settle(self, *, wait: float = 0.0) -> float:
        """Record what has ended, in one batch; return how long to rest before the next."""
        fetcher, capacity = self.fetcher, self.capacity
        self._unsettled += self._ends.gather(
            wait, lambda: not capacity.is_idle or fetcher.expects_start_within(SETTLE_WAIT)
        )
        if not self._unsettled:
            return 0.0
        session = self._unsettled[0][0].execution.session
        batch = [end for end in self._unsettled if end[0].execution.session == session]
        others = [end for end in self._unsettled if end[0].execution.session != session]
        left = self._settler.settle(batch, session=session)
        self.capacity.recorded(_ended(batch) - _ended(left))
        self._holdings.let_go(run.execution for run, _ in batch)
        self._holdings.take(run.execution for run, _ in left)
        self.fetcher.note_settled(batch, left)
        self._unsettled = [*left, *others]
        self._note_stuck()
        return 0.0

    def maintain(self) -> float:
        """Take back what the dead hold, run the pass if it is due, see to the message."""
        if self._sweeper.step():
            self.fetcher.scan_now()
        called, self._called = self._called, False
        if called or self._turn.has_come(self.heart.tick):
            self.watchdog.perform()
        self.watchdog.ensure()
        if self.engine.bell.unheard:
            self.watchdog.ring_orphans()
        self._reporter.report(self.heart.session)
        return max(0.1, self._sweeper.rest)

    # Threads

    def start(self, *, burst: bool = False) -> None:
        """Begin to work in threads of our own, in a session; without one while the store has none.

        In a burst only what is due is run, and `exhausted` is set when nothing is left.
        """
        self.executor.start()
        try:
            self.heart.register()
        except StoreError as error:
            if burst:
                raise
            self._failed("heart", error)
        fetch = self.fetch_due if burst else self.fetch
        # Until the last run is settled somebody has to show life and to settle.
        settle = partial(self.settle, wait=REST_AFTER_ERROR)
        self._loops.begin("heart", self.beat, end=self._ending)
        self._loops.begin("fetcher", fetch, end=self._stopping)
        self._loops.begin("settler", settle, end=self._ending)
        self._loops.begin("maintenance", self.maintain, end=self._stopping)

    def stop(self, *, drain: float | None = None) -> None:
        """Stop claiming at once, wait for what runs, end the rest, end the session.

        What was never begun is given back. What was begun and cut off has an unknown outcome, as
        after a lost lease: `on_unknown` decides.
        """
        self._stopping.set()
        self._wake_all()
        longest = self.engine.settings.drain.total_seconds() if drain is None else drain
        # A claim may be under way: whatever it brings has to be given back or run.
        self._loops.join("fetcher", seconds=longest)
        for run in self.capacity.overstayed(everything=True):
            self._ends.release(run)
        self.capacity.wait_until_idle(longest)
        # First of all: what is recorded as cut off may begin elsewhere at once.
        self.executor.stop()
        self._cut_off()
        self._ending.set()
        self._wake_all()
        self._loops.join(seconds=REST_AFTER_ERROR * 2)
        self.engine.bell.leave(self.fetcher.expect)
        self._settle_last()

    def _cut_off(self) -> None:
        """Let go of what the executor has dropped; a run that ended by itself is not among it."""
        for run in self.capacity.running():
            cut, parked = self.capacity.finish(run.execution.fence, 0.0)
            if cut is not None:
                self._ends.cut_off(cut, self.engine.time.now())
            if parked is not None:
                self._ends.release(parked)

    def hurry(self) -> None:
        """Let a stop that waits for running jobs wait no longer."""
        self.capacity.give_up()

    def _settle_last(self) -> None:
        """Record what is left, and end the session; the lease heals what cannot be recorded."""
        try:
            self.settle()
            while not self._ends.empty():
                self.settle()
            self.heart.retire()
        except SempreError as error:
            self.engine.outage.failed(error)

    def call(self, name: str) -> None:
        """Let a loop of this worker step now, if it rests."""
        self._loops.call(name)

    def _failed(self, name: str, error: Exception) -> None:
        if isinstance(error, PulseLost):
            self._leave(str(error))
        elif isinstance(error, StoreError):
            self.identity.in_doubt |= isinstance(error, StoreGone)
            self.engine.outage.failed(error)
        else:
            self.engine.events.tell(Happened.BLUNDER, error=repr(error), where=name)

    def _wake_all(self) -> None:
        self._loops.call_all()
        self.capacity.wake()
        self.engine.bell.broker.wake()

    # Runs

    def _begin(self, runs: Sequence[Run]) -> None:
        """Run what was claimed, as far as there are hands for it."""
        self._holdings.take(run.execution for run in runs)
        # If a pause between the claim and here has cost us the lease, others have it by now.
        session = "" if self._stopping.is_set() or self.heart.is_lost else self.heart.session
        for run in runs:
            if run.execution.session != session:
                self._ends.release(run)
        ours = [run for run in runs if run.execution.session == session]
        self.heart.allow(silence_of(ours, self.engine.settings))
        for run in self.capacity.admit(ours):
            self._submit(run)

    def _give_back_unknown(self) -> None:
        """Give back unstarted what was claimed for us by an operation whose answer was lost."""
        for execution in self._holdings.unknown(self.heart.session):
            self._ends.release(self.spec.run(execution, None, self.engine.settings))

    def _submit(self, run: Run) -> None:
        try:
            self.executor.submit(run, self._done)
        except Refused:
            # The executor was stopped meanwhile, so the run has not begun.
            self.capacity.finish(run.execution.fence, 0.0)
            self._ends.release(run)

    def _done(self, run: Run, outcome: Outcome) -> None:
        """Take an outcome from whatever thread it comes, and go on with what was parked."""
        done, following = self.capacity.finish(run.execution.fence, outcome.seconds)
        if done is not None:
            self._ends.put(done, self._holdings.judged(run, outcome))
        if following is not None:
            self._submit(following)

    def _note_stuck(self) -> None:
        """Runs that are over but hold their thread keep their hand; two are reason to recycle."""
        stuck = self.executor.stuck
        self.capacity.set_stuck(stuck)
        if stuck >= MOST_STUCK:
            self._leave(f"{stuck} jobs do not end though they have timed out or were cancelled")

    def _leave(self, reason: str) -> None:
        if self.leave is not None and not self._stopping.is_set():
            self.leave(reason)

    def _call_watchdog(self) -> None:
        self._called = True
        self.call("maintenance")

    def _end_unwanted(self) -> None:
        """End what somebody wants to end, and what the store says is no longer ours."""
        tick = self.heart.tick
        for execution_id in tick.cancelled:
            self.executor.cancel(execution_id, reason="requested")
        known = self.capacity.running(since=self.heart.asked_at) if self.heart.answered else ()
        for run in known:
            again = self.capacity.has_later(run)
            if run.execution.fence not in tick.held and not again:
                self._abandon(run, "it is no longer ours")

    def _abandon(self, run: Run, reason: str) -> None:
        """End a run that is not ours any more."""
        self._holdings.abandon(run.execution)
        self.executor.cancel(run.execution.id, reason=reason)

    def _lose_session(self) -> None:
        """Others may have our work: stop it, and begin again under a new name."""
        stopped = [run.execution.id for run in self.capacity.running()]
        facts = {"session": self.heart.session, "executions": stopped}
        self.engine.events.tell(Happened.SESSION_LOST, **facts)
        self._give_up("the lease was lost")

    def _begin_anew(self, found: str) -> float:
        """Set the store up again, and begin with nothing: what it held is gone."""
        self._give_up("the store is gone")
        self.identity.renew(found, fence=self._holdings.highest)
        self.watchdog.note_renewal()
        self.fetcher.scan_now()
        return 0.0

    def _give_up(self, reason: str) -> None:
        for run in self.capacity.overstayed(everything=True):
            self._ends.release(run)
        for run in self.capacity.running():
            self._abandon(run, reason)
        self.heart.session = ""


def _ended(ends: Iterable[End]) -> int:
    return sum(outcome.ended is not Ended.RELEASED for _, outcome in ends)
