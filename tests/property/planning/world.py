"""A store in miniature: applies plans to rows, and checks the invariants after every one.

The invariants are those of the design, numbered as there, and judged by the grid itself rather
than by the code under test.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sempre.domain.definition import Definition
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Claim, Plan, PlanningTime, Verdict, plan_claim, plan_reconcile
from sempre.domain.planning.claim import plan_claim_general
from sempre.domain.planning.fast_path import (
    find_plain_start,
    plan_plain_birth,
    plan_plain_start,
)
from sempre.domain.planning.verbs import plan_start_general
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, TRANSITIONS, Kind, State
from sempre.domain.switch import Switch, stopping

__all__ = ["LEASE", "START", "World"]

START = datetime(2026, 3, 29, 0, 0, 30, tzinfo=UTC)
LEASE = timedelta(seconds=30)
TICK = timedelta(microseconds=1)


class World:
    """One schedule, its rows and ranges, and the time."""

    def __init__(self, definition: Definition) -> None:
        self.now = START
        self.latest = START
        self.schedule = Schedule(
            id="s1", name="bill", definition=definition, created_at=START, cursor=START
        )
        self.rows: dict[str, Execution] = {}
        self.ranges: list[SlotRange] = []
        self.decided: dict[datetime, str] = {}
        self.in_force: dict[datetime, str] = {}
        self.fence = 0
        self.births = 0
        self.switch: Switch | None = None

    @property
    def moment(self) -> PlanningTime:
        return PlanningTime(self.now, "2026.1")

    def all_rows(self) -> list[Execution]:
        return list(self.rows.values())

    def live(self) -> list[Execution]:
        return [row for row in self.rows.values() if row.is_live]

    def running(self) -> list[Execution]:
        return [row for row in self.rows.values() if row.state is State.RUNNING]

    def next_rows(self) -> list[Execution]:
        return [
            row
            for row in self.live()
            if row.kind is Kind.SCHEDULED
            and row.first_started_at is None
            and row.run_at > self.schedule.cursor
        ]

    def travel(self, by: timedelta) -> None:
        """Let time pass, and note for each slot on the way what was in force when it passed."""
        for slot in self.schedule.definition.grid.between(self.now, self.now + by):
            if slot not in self.decided:
                self.in_force[slot] = self._in_force(slot)
        self.now += by
        self.latest = max(self.latest, self.now)

    def perform(self, verb: Callable[..., Plan], **options: object) -> Plan:
        """Plan a verb on the schedule and apply it; check that repeating reconcile is idle."""
        plain = plan_plain_birth(self.schedule, self.moment)
        assert plain is None or plain == plan_start_general(self.schedule, (), self.moment)
        plan = verb(self.schedule, self.all_rows(), self.moment, **options)
        assert self.apply(plan)
        return plan

    def claim(self, row: Execution) -> Claim:
        claim = self.judge(row)
        if claim.verdict is Verdict.START:
            self._check_start(row)
        assert self.apply(claim.plan)
        if claim.verdict is Verdict.START:
            self.lease(row.id)
        return claim

    def judge(self, row: Execution) -> Claim:
        """Plan the claim of a row, under the switch that is off for it."""
        stopped_by = self._stopping(row)
        plain = plan_plain_start(self.schedule, row, self.moment)
        if plain is not None:
            weighed = plan_claim_general(self.schedule, row, [], self.moment)
            assert Claim(Verdict.START, plain) == weighed
        self._check_planned_ahead(row)
        return plan_claim(self.schedule, row, self.all_rows(), self.moment, stopped_by=stopped_by)

    def _check_planned_ahead(self, row: Execution) -> None:
        """Check that a start which is planned before it is due is planned so when it is."""
        at_due = self.moment._replace(now=row.due_at)
        ahead = find_plain_start(self.schedule, row, at_due)
        if ahead is not None and ahead.is_right_at(self.now):
            weighed = plan_claim_general(self.schedule, row, [], self.moment)
            assert Claim(Verdict.START, ahead.plan(self.now)) == weighed

    def _stopping(self, row: Execution) -> Switch | None:
        return stopping([self.switch] if self.switch else [], row)

    def apply(self, plan: Plan) -> bool:
        """Apply a plan whole, or refuse it whole if what it was made from has changed."""
        if not self._guard(plan):
            return False
        for change in plan.changes:
            before, after = change.before, change.after
            assert after.state in TRANSITIONS[before.state]  # 5, first half
            was_due = before.is_live and before.due_at <= self.now
            assert not (was_due and after.state is State.SUPERSEDED), "a due row still runs"
            self.rows[change.before.id] = change.after
        for draft in plan.creates:
            self.births += 1
            row = draft.born(f"e{self.births}", self.now)
            self.rows[row.id] = row
        self.ranges.extend(plan.ranges)
        if plan.schedule is not None:
            self._move_schedule(plan.schedule)
        self.check()
        return True

    def check(self) -> None:
        """Check what must hold after every commit."""
        self._check_next_row()
        self._check_uniqueness()
        self._check_decided()
        self._check_reasons()
        self._check_stopped()
        first_starts = [row for row in self.all_rows() if row.first_started_at is not None]
        scheduled = [row for row in first_starts if row.kind is Kind.SCHEDULED]
        assert self.schedule.starts == len(scheduled)
        if self.now == self.latest:  # set back, the clock makes a due row undue again
            assert plan_reconcile(self.schedule, self.all_rows(), self.moment).is_empty

    def run_until_quiet(self) -> None:
        """Let what is due run, as long as there is any; some of it can go on at every look."""
        self.switch = None
        for row in self.running():
            self._finish(row)
        for _ in range(100):
            due = [row for row in self.live() if row.due_at <= self.now]
            verdicts = {self._run(row) for row in due}
            assert not due or verdicts & {Verdict.START, Verdict.SKIP, Verdict.MISS}, due

    def _run(self, row: Execution) -> Verdict:
        verdict = self.claim(self.rows[row.id]).verdict
        if verdict is Verdict.START:
            self._finish(self.rows[row.id])
        return verdict

    def _finish(self, row: Execution) -> None:
        done = row.to(State.SUCCEEDED, finished_at=self.now)
        self.rows[row.id] = done

    def _guard(self, plan: Plan) -> bool:
        base, schedule = plan.base, self.schedule
        if base is not None and base.revision != schedule.revision:
            return False
        if base is not None and plan.schedule != base:
            same = (base.starts, base.cursor, base.next_run_at)
            if same != (schedule.starts, schedule.cursor, schedule.next_run_at):
                return False
        if plan.decides and self._stopping(self.rows[plan.decides]) != plan.stopped_by:
            return False
        pairs = ((change.before, self.rows[change.before.id]) for change in plan.changes)
        return all((a.state, a.attempt, a.fence) == (b.state, b.attempt, b.fence) for a, b in pairs)

    def lease(self, identity: str) -> None:
        self.fence += 1
        row = self.rows[identity]
        self.rows[identity] = replace(row, fence=self.fence, leased_until=self.now + LEASE)

    def _check_start(self, row: Execution) -> None:
        assert row.due_at <= self.now  # 3
        if row.kind is not Kind.MANUAL and not self.schedule.deleted:
            pause = self.schedule.pause
            assert self.schedule.definition.enabled  # 9
            assert pause is None or (pause.until is not None and self.now >= pause.until)
        assert row.kind is Kind.MANUAL or self.switch is None  # 9
        if row.snapshot.overlap in ("skip", "wait"):
            assert not [other for other in self.running() if other.id != row.id]
        if row.kind is Kind.BACKFILL:
            self._check_turn(row)

    def _check_turn(self, row: Execution) -> None:
        others = [other for other in self.all_rows() if other.id != row.id]
        assert not [
            other
            for other in others
            if (other.kind is Kind.SCHEDULED and other.is_live and other.due_at <= self.now)
            or (other.kind is Kind.BACKFILL and other.is_live and other.run_at < row.run_at)
            or (other.kind is Kind.BACKFILL and other.state is State.RUNNING)
        ]

    def _in_force(self, slot: datetime) -> str:
        pause = self.schedule.pause
        if not self.schedule.definition.enabled:
            return "disabled"
        if pause is not None and (pause.until is None or slot < pause.until):
            return "paused"
        return "active"

    def _check_reasons(self) -> None:
        """A slot without a row says what was in force when it passed."""
        for found in self.ranges:
            for slot, in_force in self.in_force.items():
                if slot in self.decided and found.first <= slot <= found.last:
                    active = in_force == "active" and found.reason in ("missed", "edited")
                    assert active or found.reason in (in_force, "ended"), (slot, in_force, found)

    def _check_stopped(self) -> None:
        """Nothing of a disabled or paused schedule waits, but for the row after the pause."""
        stepped_back = self.now < self.latest
        if self.schedule.deleted or stepped_back or self.schedule.allows_start(self.now):
            return
        waiting = {row.id for row in self.live() if row.kind is not Kind.MANUAL}
        rest = waiting - {row.id for row in self.next_rows()}
        assert not rest, [self.rows[each] for each in rest]

    def _move_schedule(self, after: Schedule) -> None:
        before = self.schedule
        assert after.cursor >= before.cursor  # 5, second half
        assert after.cursor <= self.latest
        assert after.revision - before.revision in (0, 1)
        slots = before.definition.grid.between(before.cursor, after.cursor)
        self.decided.update(dict.fromkeys(slots, before.definition.grid.explain()))
        self.schedule = after
        limit = after.definition.limit
        assert after.starts == before.starts or limit is None or after.starts <= limit

    def _check_next_row(self) -> None:  # 1
        rows, wanted = self.next_rows(), self._wanted_slot()
        if wanted is None:
            assert rows == []
            assert self.schedule.next_run_at is None
            return
        assert len(rows) == 1, (rows, wanted)
        assert rows[0].run_at == wanted == self.schedule.next_run_at
        if self.now == self.latest:
            assert self.in_force.get(wanted, "active") == "active", "a stopped slot is not made up"
        if rows[0].due_at > self.latest:
            assert not rows[0].snapshot.drift_from(self.schedule.snapshot())

    def _wanted_slot(self) -> datetime | None:
        schedule, declared = self.schedule, self.schedule.definition
        pause, limit = schedule.pause, declared.limit
        forever = pause is not None and pause.until is None
        ended = limit is not None and schedule.starts >= limit
        if not (schedule.started and declared.enabled) or schedule.deleted or forever or ended:
            return None
        waiting = {row.id for row in self.next_rows()}
        taken = {
            row.run_at
            for row in self.all_rows()
            if row.kind is Kind.SCHEDULED
            and row.state is not State.SUPERSEDED
            and row.id not in waiting
        }
        start = schedule.cursor
        if pause is not None and pause.until is not None:
            start = max(start, pause.until - TICK)
        slots = declared.grid.times(start, len(taken) + 1)
        free = [slot for slot in slots if slot not in taken]
        return free[0] if declared.until is None or free[0] <= declared.until else None

    def _check_uniqueness(self) -> None:  # 2
        slots = [
            row.run_at
            for row in self.all_rows()
            if row.kind is Kind.SCHEDULED and row.state is not State.SUPERSEDED
        ]
        assert len(slots) == len(set(slots))
        backfills = [
            row.run_at
            for row in self.all_rows()
            if row.kind is Kind.BACKFILL and (row.state in LIVE or row.state is State.RUNNING)
        ]
        assert len(backfills) == len(set(backfills))

    def _check_decided(self) -> None:  # 6
        rows = {
            row.run_at
            for row in self.all_rows()
            if row.kind is Kind.SCHEDULED and row.state is not State.SUPERSEDED
        }
        for slot, grid in self.decided.items():
            in_ranges = sum(found.first <= slot <= found.last for found in self.ranges)
            assert in_ranges + (slot in rows) == 1, (slot, grid, in_ranges, slot in rows)
        assert sum(found.count for found in self.ranges) + len(rows & self.decided.keys()) == len(
            self.decided
        )
