"""The watchdog: the pass that its message, or the clock of any worker, calls for.

A pass is due when the store's pass row says so, and the worker that wins that row runs it: messages
that are lost, doubled or late change only when a worker tries. The cost of a pass grows with what
is wrong, plus two rounds that trust no index: the store checks every schedule once a day by its
rows, and a slice of fixed size is checked in full at each pass.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from secrets import token_hex

from sempre.domain.arguments import Json
from sempre.engine.audits import LAST, marked
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.engine.healing import Heals
from sempre.engine.pass_report import PassReport
from sempre.engine.reconciler import Reconciled, Reconciler
from sempre.engine.retention import Retention
from sempre.engine.rings import ring_all, ring_orphans
from sempre.engine.tickets import Sentinel
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.errors import StoreUnavailable
from sempre.ports.broker import LARGEST_PRIORITY, Message
from sempre.ports.messages import Pass, Waiting

__all__ = ["LEASES", "Watchdog"]

BATCH = 500
MOST_BATCHES = 200
CHECKED_AT_ONCE = 1000
DAY = timedelta(hours=24)
# A lease longer than this many leases of this process was given by a clock that was ahead.
LEASES = 10


class Watchdog:
    """Runs passes, and sees that the message that calls for them exists."""

    def __init__(self, engine: Engine, *, queues: frozenset[str] = frozenset({"default"})) -> None:
        """Watch over a store; the queues are those whose lanes get a sentinel."""
        self._engine = engine
        self._queues = queues
        self._message = WatchdogMessage(engine)
        self._reconciler = Reconciler(engine)
        self._retention = Retention(engine)
        self._holder = token_hex(8)
        self._renewed_at = ""

    # The message

    @property
    def queue_name(self) -> str:
        """The lane of the message on the broker; on Beanstalkd, its tube."""
        return self._message.queue_name

    def enqueue(self, *, interval: int | None = None, priority: int | None = None) -> str:
        """Put a message on the broker, due after the interval; return its handle.

        With the store as broker the pass row is the message, and the handle is empty. The worker
        that answers the message goes on by its own settings.
        """
        return self._message.enqueue(interval=interval, priority=priority)

    def exists(self) -> bool:
        """Return whether a message is waiting; one that a worker has reserved does not count."""
        return self._message.exists()

    def ensure(self) -> None:
        """Put a message on the broker if there is none; a process checks at most once a minute."""
        self._message.ensure()

    # The pass

    def note_renewal(self) -> None:
        """Note in the next report that the store had been emptied and was set up again."""
        self._renewed_at = self._engine.present().isoformat()

    def perform(self, *, interval: int | None = None) -> PassReport:
        """Run the pass if it is due; return its report.

        A store that cannot be reached, or whose connections are all in use, ends the pass early;
        the next interval tries again.
        """
        every = timedelta(seconds=interval) if interval else self._engine.settings.watchdog_interval
        seconds = int(every.total_seconds())
        self._engine.events.emit(Happened.PERFORM_STARTED, interval=seconds)
        report, began = PassReport(seconds, lock_acquired=False), self._engine.clock.elapsed()
        try:
            begun = self._engine.store.begin_pass(holder=self._holder, every=every)
            if begun is not None:
                report = PassReport.after(begun.report, interval=seconds)
                self._run(report, begun, every)
        except StoreUnavailable as error:
            self._engine.outage.failed(error)
        report.seconds = self._engine.clock.elapsed() - began
        self._engine.events.emit(Happened.PERFORMED, **report.facts)
        return report

    def force(self) -> PassReport:
        """Run a pass now, due or not, that checks every schedule in full; return its report.

        If no pass was due, the next one stays due at its time: the forced pass goes on beside any
        other, and its report is not stored.

        Raises:
            StoreUnavailable: repairs that were made before stay.
        """
        report = self.perform()
        if not report.lock_acquired:
            last = self._engine.read(self._engine.store.last_pass())
            report = PassReport.after(last.report, interval=report.interval)
            report.lock_acquired = False
            self._engine.bell.breaker.hurry()
            self._shorten_leases()
            self._repair_astray(report)
            lost = frozenset(queue for queue in report.sentinels if not self._stands(report, queue))
            report.rung_again = self._ring_again(lost) if lost else 0
            report.orphans_enqueued = ring_orphans(self._engine, actor="watchdog")
        done = self._reconcile_all()
        self._engine.healing.flush()
        report.add(done)
        report.schedules_processed, report.schedules_failed = done.processed, len(done.failing)
        return report

    def _run(self, report: PassReport, begun: Pass, every: timedelta) -> None:
        self._shorten_leases()
        self._repair_astray(report)
        after, at = report.slice_after, self._engine.time.now()
        self._check_stretch(report, every)
        upto = report.slice_after or LAST
        report.audits = marked(report.audits, after=after, upto=upto, at=at)
        self._check_slice(report)
        # The outage of the broker that this process remembers may be over.
        self._engine.bell.breaker.hurry()
        self._ring_lost(report)
        report.orphans_enqueued = ring_orphans(self._engine, actor="watchdog")
        self._engine.healing.flush()
        self._retention.purge(report)
        self._retention.purge_records()
        self._report_switches(report)
        report.deaf = sorted(self._engine.bell.deaf)
        report.renewed_at = report.renewed_at or self._renewed_at
        due_in = self._retention.next_pass_in(report, every=every)
        self._engine.store.finish_pass(holder=begun.holder, report=asdict(report), due_in=due_in)

    def _report_switches(self, report: PassReport) -> None:
        """Report every switch that is off, so that it is not forgotten."""
        switches = self._engine.read(self._engine.store.switches())
        report.switches_off = len(switches)
        for switch in switches:
            self._engine.events.emit(Happened.SWITCHED_OFF, switch=switch)

    def _shorten_leases(self) -> None:
        self._engine.store.shorten_leases(longest=LEASES * self._engine.settings.lease)

    def _repair_astray(self, report: PassReport) -> None:
        """Start schedules, create and replace next rows, until the index lists no more.

        The next query reads past schedules that cannot be read or planned here.
        """
        past = 0
        for _ in range(MOST_BATCHES):
            limit = BATCH + past
            reading = self._engine.store.needing_repair(tzdata=self._engine.tzdata, limit=limit)
            done = self._reconciler.reconcile(reading)
            report.schedules_processed += done.processed
            report.add(done)
            past = 2 * (done.seen - done.changed)
            if done.seen < limit:
                return

    def _check_stretch(self, report: PassReport, every: timedelta) -> None:
        """Let the store check some schedules, so many that each has its turn once in 24 hours.

        Only schedules that are not plainly in order are checked in full.
        """
        passes_a_day = max(1, DAY // every)
        left = max(BATCH, -(-report.last_round * 5 // (passes_a_day * 4)))
        while left > 0:
            limit = min(left, CHECKED_AT_ONCE)
            reading = self._engine.store.suspect(after=report.slice_after, limit=limit)
            stretch = self._engine.read(reading)
            for start in range(0, len(stretch.suspect), BATCH):
                names = stretch.suspect[start : start + BATCH]
                report.add(self._reconciler.reconcile(self._engine.store.views(names)))
            report.schedules_processed += stretch.count
            report.round_size += stretch.count
            left -= limit
            if stretch.count < limit:
                report.last_round, report.round_size, report.slice_after = report.round_size, 0, ""
                return
            report.slice_after = stretch.last

    def _check_slice(self, report: PassReport) -> None:
        """Check the next few schedules in full, grids included, whatever the store says of them.

        A fixed number: this round over all schedules takes as long as it takes.
        """
        reading = self._engine.store.slice(after=report.looked_after, limit=BATCH)
        done = self._reconciler.reconcile(reading)
        report.add(done)
        report.looked_after = done.last if done.seen == BATCH else ""

    def _reconcile_all(self) -> Reconciled:
        """Check every schedule in full, a batch at a time."""
        done, count = Reconciled(), BATCH
        while count == BATCH:
            batch = self._reconciler.reconcile(
                self._engine.store.slice(after=done.last, limit=BATCH)
            )
            done.add(batch)
            count = batch.seen
        return done

    def _ring_lost(self, report: PassReport) -> None:
        """Ring everything within the horizon again if a lane's sentinel is gone."""
        bell = self._engine.bell
        if not bell.carries or bell.breaker.rest:
            return
        gone = [queue for queue in sorted(self._queues) if not self._stands(report, queue)]
        if not gone:
            return
        # Posted before anything is rung, so that a loss during the rings is noticed too.
        posted = {queue: self._post_sentinel(queue) for queue in gone}
        bell.has_unrung = False
        # A queue without a sentinel so far has lost nothing: its first pass rings it.
        report.rung_again = self._ring_again(frozenset(gone), known=frozenset(report.sentinels))
        # A sentinel that is not noted counts as gone: the next pass rings again.
        if not bell.has_unrung:
            report.sentinels |= {queue: sent for queue, sent in posted.items() if sent}

    def _ring_again(self, queues: frozenset[str], *, known: frozenset[str] | None = None) -> int:
        """Ring the waiting rows of queues; note those of known queues, which had lost tickets."""
        healing = self._engine.healing

        def note(rows: Sequence[Waiting]) -> None:
            lost = [row for row in rows if known is None or row.queue in known]
            healing.add_waiting(Heals.QUEUE_LOST, lost, actor="watchdog")

        return ring_all(self._engine, queues, note=note)

    def _stands(self, report: PassReport, queue: str) -> bool:
        posted, bell = report.sentinels.get(queue), self._engine.bell
        if not isinstance(posted, list):
            return False
        handle, nonce = str(posted[0]), str(posted[1])
        body, lane = Sentinel(nonce).to_text(), bell.lane(queue)
        answer = bell.attempt(lambda broker: broker.holds(lane, handle, body))
        return answer is not False

    def _post_sentinel(self, queue: str) -> Json:
        """Put a sentinel into a lane; return its handle and nonce, None if the broker failed."""
        bell, nonce = self._engine.bell, token_hex(8)
        delay = bell.broker.capabilities.horizon.total_seconds()
        message = Message(bell.lane(queue), Sentinel(nonce).to_text(), delay, LARGEST_PRIORITY)
        handles = bell.attempt(lambda broker: broker.put([message]))
        return [handles[0], nonce] if handles and handles[0] else None
