"""A schedule's life in few words: times of one day, rows, and plans applied as a store would."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from sempre.domain.definition import define
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import (
    Claim,
    Plan,
    PlanningTime,
    Verdict,
    plan_claim,
    plan_crash,
    plan_edit,
    plan_failure,
    plan_interruption,
    plan_release,
    plan_rescue,
    plan_start,
    plan_success,
)
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.grids import Every, Grid

__all__ = ["LEASE", "Faulty", "Story", "at", "gap"]

MIDNIGHT = datetime(2026, 5, 4, tzinfo=UTC)
LEASE = timedelta(seconds=30)


def at(clock: str, *, days: int = 0) -> datetime:
    """Return an instant of the one day on which everything happens, or of a day near it."""
    told = time.fromisoformat(clock)
    return datetime.combine(MIDNIGHT + timedelta(days=days), told, UTC)


def gap(first: str, last: str, count: int, reason: str) -> SlotRange:
    """Return the record of slots that passed without a row."""
    return SlotRange(schedule_id="s1", first=at(first), last=at(last), count=count, reason=reason)


class Faulty(Grid):
    """Every minute, until somebody breaks it: `error` is raised, `answer` is given instead."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.answer: datetime | None = None

    def after(self, t: datetime) -> datetime | None:
        if self.error is not None:
            raise self.error
        return self.answer or Every("1m").after(t)

    def mend(self) -> None:
        self.error = self.answer = None


class Story:
    """One schedule with its rows and ranges at a time of day; it applies what is planned."""

    def __init__(self, grid: Grid | str = "1m", /, **options: object) -> None:
        """Begin on a grid; options are policies, `now`, `lease` in seconds, and `start`."""
        self.now = at(str(options.pop("now", "12:00")))
        self.tzdata = "2026.1"
        start = options.pop("start", True)
        self.lease = timedelta(seconds=float(str(options.pop("lease", LEASE.total_seconds()))))
        rule = grid if isinstance(grid, Grid) else Every(grid)
        self.schedule = Schedule(
            id="s1",
            name="billing",
            definition=define(job="bill", grid=rule, **options),
            created_at=self.now,
            cursor=self.now,
        )
        self.rows: dict[str, Execution] = {}
        self.ranges: list[SlotRange] = []
        self.fence = 0
        self.births = 0
        if start:
            self.perform(plan_start)

    @property
    def moment(self) -> PlanningTime:
        return PlanningTime(self.now, self.tzdata)

    @property
    def cursor(self) -> datetime:
        return self.schedule.cursor

    @property
    def next_row(self) -> Execution | None:
        """The one live, unattempted row of kind scheduled after the cursor."""
        found = [
            row
            for row in self.rows.values()
            if row.kind is Kind.SCHEDULED
            and row.state in (State.PENDING, State.SCHEDULED)
            and row.first_started_at is None
            and row.run_at > self.cursor
        ]
        assert len(found) <= 1
        return found[0] if found else None

    @property
    def next_at(self) -> datetime | None:
        """The slot of the next row, by the rows and by the schedule alike."""
        row = self.next_row
        assert self.schedule.next_run_at == (row.run_at if row else None)
        return row.run_at if row else None

    def go(self, clock: str, *, days: int = 0) -> "Story":
        """Travel to another time."""
        self.now = at(clock, days=days)
        return self

    def perform(self, verb: Callable[..., Plan], **options: object) -> Plan:
        """Plan a verb on the schedule and its rows, and apply it."""
        return self.apply(verb(self.schedule, list(self.rows.values()), self.moment, **options))

    def edit(self, **changes: object) -> Plan:
        return self.perform(plan_edit, to=self.schedule.definition.edited(**changes))

    def apply(self, plan: Plan) -> Plan:
        for change in plan.changes:
            self.rows[change.before.id] = change.after
        for draft in plan.creates:
            self.births += 1
            row = draft.born(f"e{self.births}", self.now)
            self.rows[row.id] = row
        self.ranges.extend(plan.ranges)
        self.schedule = plan.schedule or self.schedule
        return plan

    def ask(self, row: Execution | None = None) -> Claim:
        """Return the verdict on a row, by default the next one, without applying it."""
        asked = row or self.next_row
        assert asked is not None
        return plan_claim(self.schedule, asked, list(self.rows.values()), self.moment)

    def claim(self, row: Execution | None = None) -> Execution:
        """Ask about a row, apply the answer, and return the row as it is then."""
        asked = row or self.next_row
        assert asked is not None
        answer = self.ask(asked)
        self.apply(answer.plan)
        if answer.verdict is Verdict.START:
            self.fence += 1
            leased = self.now + self.lease
            started = self.rows[asked.id]
            self.rows[asked.id] = replace(started, fence=self.fence, leased_until=leased)
        return self.rows[asked.id]

    def succeed(self, row: Execution) -> Execution:
        self.apply(plan_success(self.rows[row.id], self.moment))
        return self.rows[row.id]

    def fail(self, row: Execution, error: str = "boom") -> Execution:
        self.apply(plan_failure(self.schedule, self.rows[row.id], self.moment, error=error))
        return self.rows[row.id]

    def release(self, row: Execution) -> Execution:
        self.apply(plan_release(self.schedule, self.rows[row.id], self.moment))
        return self.rows[row.id]

    def interrupt(self, row: Execution) -> Execution:
        """Let a worker that stops cut a run off."""
        rows = list(self.rows.values())
        self.apply(plan_interruption(self.schedule, self.rows[row.id], rows, self.moment))
        return self.rows[row.id]

    def crash(self, row: Execution) -> Execution:
        """Let the process of a run end without an answer."""
        rows = list(self.rows.values())
        self.apply(plan_crash(self.schedule, self.rows[row.id], rows, self.moment))
        return self.rows[row.id]

    def rescue(self, row: Execution) -> Execution:
        rows = list(self.rows.values())
        self.apply(plan_rescue(self.schedule, self.rows[row.id], rows, self.moment))
        return self.rows[row.id]

    def run(self) -> Execution:
        """Let the next row start and succeed at once."""
        return self.succeed(self.claim())

    def slot(self, clock: str) -> list[Execution]:
        """Return the rows of kind scheduled at a slot, oldest first."""
        rows = self.rows.values()
        return [row for row in rows if row.kind is Kind.SCHEDULED and row.run_at == at(clock)]

    def told(self, clock: str) -> list[tuple[str, str]]:
        """Return state and reason of the rows of kind scheduled at a slot, oldest first."""
        return [(row.state.value, row.reason) for row in self.slot(clock)]

    def of_kind(self, kind: Kind) -> list[Execution]:
        return [row for row in self.rows.values() if row.kind is kind]
