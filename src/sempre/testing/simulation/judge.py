"""The judge: checks the numbered invariants of the design after every operation of the store.

The judge reads the tables and the log of effects and computes slots from the grids. The judge never
calls the engine or planning. Checks of one row are here; checks of a schedule and its slots are in
`slots.py`.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from sempre.domain.execution import Execution
from sempre.domain.states import ENDS, TRANSITIONS, Kind, Reason, State
from sempre.engine.tickets import Ticket, read_ticket
from sempre.ports.broker import Delivery
from sempre.ports.messages import Work
from sempre.testing.simulation.effects import Effects
from sempre.testing.simulation.limit_book import LimitBook
from sempre.testing.simulation.policies import PolicyBook
from sempre.testing.simulation.retries import judge_next_try
from sempre.testing.simulation.slots import SlotBook
from sempre.testing.simulation.stage import Broken, Program
from sempre.testing.simulation.stores import Operation, WatchedStore

if TYPE_CHECKING:
    from sempre.ports.messages import Settlement, UniqueKey

__all__ = ["Judge"]


class Judge:
    """Receives every operation, and raises `Broken` at the first that breaks a promise.

    Attributes:
        sessions: the program that registered each session.
        asked_to_end: ids of executions that a caller asked the store to cancel.
        starts: every claimed execution as of its claim, in order.
        taken_back: executions that were taken back from a worker, each with the true time.
    """

    def __init__(self, store: WatchedStore, effects: Effects) -> None:
        """Begin with an empty store."""
        self._store = store
        self._effects = effects
        self._fence = 0
        self._remembered: list[str] = []
        self.latest = store.clock.now()
        self.book = SlotBook(store.tables)
        self._policies = PolicyBook(store.tables, self.book)
        self.limits = LimitBook(store.tables)
        self.sessions: dict[str, Program] = {}
        self.asked_to_end: set[str] = set()
        self._of_key: defaultdict[str, list[str]] = defaultdict(list)
        self.claimed_at: dict[str, datetime] = {}
        self.starts: list[Execution] = []
        self.taken_back: list[tuple[int, Execution]] = []
        self.operations = 0

    def remember(self, defect: str) -> None:
        """Keep a defect that was reported where raising is not allowed; the next check raises."""
        self._remembered.append(defect)

    def check_remembered(self) -> None:
        """Raise `Broken` with the first remembered defect, if any."""
        if self._remembered:
            raise Broken(self._remembered[0])

    def hear(self, operation: Operation) -> None:
        """Judge one operation of the store by the rows and schedules that the operation changed."""
        self.operations += 1
        now = self._store.clock.now()
        self.latest = max(self.latest, now)
        if operation.name == "register":
            self.sessions[operation.arguments[0].id] = operation.program
        if operation.name == "enqueue":
            self._judge_unique(operation.arguments[0])
        if operation.name == "cancel":
            self.asked_to_end.update(operation.arguments[0])
        if not self._store.has_changed():
            return
        rows = self._store.changed_rows()
        for identity, before, after in rows:
            self._judge_row(operation, now, before, after)
            self.book.note_row(identity, before, after)
        schedules = self._store.changed_schedules()
        doubt = operation.program.stage.is_clock_in_doubt()
        self.book.judge(rows, schedules, self._store.new_ranges(), (now, self.latest))
        self._policies.judge(rows, schedules, self.latest, doubt=doubt)
        self._trace(operation, rows)

    def hear_ticket(self, program: Program, delivery: Delivery, *, last: bool) -> None:
        """Judge an acknowledged ticket: the program has read its row, and the row is due.

        A ticket of which the broker has another copy may be acknowledged early.
        """
        ticket = read_ticket(delivery.message.body)
        if not isinstance(ticket, Ticket):
            return
        row = self._store.tables.executions.get(ticket.execution)
        seen = program.sight
        if ticket.execution not in seen.lately:
            raise Broken(f"{program.name} let go of a ticket whose row it had not looked at")
        doubt = program.stage.clock_stepped_at >= seen.looked_at
        early = row is not None and row.is_untried and row.due_at > self._store.clock.now()
        if early and last and not doubt:
            raise Broken(f"{program.name} dropped a ticket that came before its time")

    def _judge_unique(self, works: Collection[Work]) -> None:
        """8: by mode, a key has one row waiting, or waiting or running, or enqueued per period."""
        table = self._store.tables.executions
        for work in works:
            if work.unique is None or work.execution.id not in table:
                continue
            unique, known = work.unique, self._of_key[work.unique.key]
            if unique.mode == "period":
                self._judge_period(unique, table[work.execution.id])
            known.append(work.execution.id)
            rows = [table[each] for each in known if each in table]
            runs = unique.mode == "active"
            taken = [row.id for row in rows if row.is_live or (runs and row.state is State.RUNNING)]
            if len(taken) > 1 and unique.mode != "period":
                raise Broken(f"8: of {unique.key} there are {taken}")

    def _judge_period(self, unique: "UniqueKey", row: Execution) -> None:
        before = self._store.tables.executions.get((self._of_key[unique.key] or [""])[-1])
        if before and before.id != row.id and row.created_at < before.created_at + unique.period:
            raise Broken(f"8: of {unique.key}, {row.id} came too soon after {before.id}")

    # Checks of one row

    def _judge_row(
        self, operation: Operation, now: datetime, before: Execution | None, after: Execution | None
    ) -> None:
        if before is None or after is None:
            self._judge_birth_or_end(operation, before, after)
            return
        if before.state is not after.state and after.state not in TRANSITIONS[before.state]:
            raise Broken(f"5: {after.id} went from {before.state} to {after.state}")
        same = (before.run_at, before.kind, before.schedule_id)
        if same != (after.run_at, after.kind, after.schedule_id):
            raise Broken(f"{after.id} changed its slot, kind or schedule")
        if before.key != after.key:
            raise Broken(f"{after.id} changed its key from {before.key} to {after.key}")
        if before.state in ENDS and after.is_live and after.retried_at == before.retried_at:
            raise Broken(f"5: {after.id} was {before.state}, and waits again without a retry")
        if after.state is State.RUNNING:
            self._judge_start(operation, now, before, after)
        elif before.state is State.RUNNING:
            self._judge_end(operation, now, before, after)
        if after.state is State.SUCCEEDED and before.state is not State.SUCCEEDED:
            self._effects.check_success(after)

    def _judge_birth_or_end(
        self, operation: Operation, before: Execution | None, after: Execution | None
    ) -> None:
        if before is None and after is not None and not (after.is_live or after.state in ENDS):
            raise Broken(f"{after.id} was born {after.state}")
        if after is None and before is not None:
            retention = operation.program.stage.settings.retention
            ended = before.finished_at or before.run_at
            if before.state not in ENDS or ended > self.latest - retention:
                raise Broken(f"{before.id} was purged though it is {before.state}")
            self._judge_kept(before)

    def _judge_kept(self, gone: Execution) -> None:
        """Check that a purged execution was not among those that its schedule keeps."""
        tables = self._store.tables
        schedule = tables.schedules.get(gone.schedule_id or "")
        if schedule is None or schedule.deleted or gone.finished_at is None:
            return
        ends = (row.finished_at for row in tables.rows_of(schedule.id))
        later = sum(end is not None and end > gone.finished_at for end in ends)
        if later < schedule.definition.keep:
            raise Broken(f"{gone.id} was purged though only {later} finished after it")

    def _judge_start(
        self, operation: Operation, now: datetime, before: Execution, after: Execution
    ) -> None:
        if before.state is State.RUNNING:
            if before.fence != after.fence:
                raise Broken(f"4: {after.id} was claimed while it ran")
            return
        if after.due_at > now:
            raise Broken(f"3: {after.id} started at {now}, before it was due at {after.due_at}")
        if after.fence <= self._fence:
            raise Broken(f"4: fence {after.fence} came after {self._fence}")
        session = self._store.tables.sessions.get(after.session)
        if session is None or session.leased_until is None or session.leased_until <= now:
            raise Broken(f"4: {after.id} was claimed by a session without a lease")
        if self.sessions.get(after.session) is not operation.program:
            raise Broken(f"{after.id} was claimed under the session of another process")
        self._fence = after.fence
        self._effects.claims[after.fence] = after.id
        self._judge_allowed(now, before)
        self.limits.judge_start(after, now, doubt=operation.program.stage.is_clock_in_doubt())
        self.starts.append(after)
        if after.schedule_id:
            self.claimed_at[after.schedule_id] = now

    def _judge_allowed(self, now: datetime, row: Execution) -> None:
        """9: no row of a stopped schedule or job starts, and no row overlaps against its policy."""
        tables, manual = self._store.tables, row.kind is Kind.MANUAL
        targets = {"all", f"job:{row.snapshot.job}", f"queue:{row.snapshot.queue}"}
        off = [each.name for each in tables.switches.values() if each.target in targets]
        if (off or row.held_by) and not manual:
            raise Broken(f"9: {row.id} started though the switches {off} are off")
        schedule = tables.schedules.get(row.schedule_id or "")
        if schedule is None:
            return
        stopped = not schedule.definition.enabled or (schedule.pause and schedule.pause.holds(now))
        if stopped and not manual:
            raise Broken(f"9: {row.id} of {schedule.name} started though that is stopped")
        if row.snapshot.overlap in ("skip", "wait"):
            running = (tables.executions[each] for each in self.book.running[schedule.id])
            others = [each.id for each in running if each.snapshot.overlap != "allow"]
            if others:
                raise Broken(f"{row.id} of {schedule.name} started while {others} run")

    def _judge_end(
        self, operation: Operation, now: datetime, before: Execution, after: Execution
    ) -> None:
        """4: a run is ended by its claim's holder, or by a rescue after the lease has expired."""
        if operation.name == "settle":
            if before.fence not in _fences(operation):
                raise Broken(f"4: {before.id}, claim {before.fence}, was settled by another claim")
            self._effects.settle(before.fence)
            self._judge_cancelled(after)
            judge_next_try(before, after, self._effects.outcomes.get(before.fence))
            return
        session = self._store.tables.sessions.get(before.session)
        alive = session and session.leased_until and session.leased_until > now
        replaced = after.state is State.CANCELLED and after.reason.startswith("replaced")
        # An expired lease may seem valid again if the clock was set back in between.
        program = operation.program
        doubt = program.stage.clock_stepped_at >= program.sight.swept_at
        if alive and not replaced and not doubt:
            raise Broken(f"4: {before.id} was taken back from a session with a lease")
        if not replaced:
            self.taken_back.append((program.stage.time.now, before))
            program.stage.trace.count("taken back")

    def _judge_cancelled(self, row: Execution) -> None:
        """A run is cancelled only if a caller asked for the cancel, or its schedule was stopped."""
        wanted = row.id in self.asked_to_end or row.reason in (Reason.DISABLED, Reason.PAUSED)
        if row.state is State.CANCELLED and not wanted:
            raise Broken(f"{row.id} was cancelled, and nobody asked for it: {row.reason}")

    def _trace(
        self, operation: Operation, rows: list[tuple[str, Execution | None, Execution | None]]
    ) -> None:
        shown = []
        for identity, before, after in rows:
            was, then = before.state if before else "nothing", after.state if after else "gone"
            row = after or before
            if row and was != then:
                slot = f"{row.snapshot.name}@{row.run_at:%H:%M:%S}"
                shown.append(f"{slot} {row.kind} {identity[-4:]} {was}->{then}")
        told = "; ".join(shown[:4]) + (" ..." if len(shown) > 4 else "")  # noqa: PLR2004
        operation.program.stage.trace.note(operation.program.name, f"{operation.name}: {told}")


def _fences(operation: Operation) -> set[int]:
    settlements: list[Settlement] = operation.arguments[0]
    session = operation.options["session"]
    executions = [each.execution for each in settlements]
    return {each.fence for each in executions if each.session == session}
