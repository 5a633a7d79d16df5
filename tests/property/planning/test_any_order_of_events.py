"""Whatever happens to a schedule, in whatever order, its invariants hold after every commit."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from sempre import Cron, Every, Grid
from sempre.domain.definition import define
from sempre.domain.planning import (
    Plan,
    Verdict,
    plan_backfill,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_failure,
    plan_given_up,
    plan_interruption,
    plan_pause,
    plan_reconcile,
    plan_release,
    plan_rescue,
    plan_resume,
    plan_retry_later,
    plan_skip,
    plan_start,
    plan_success,
    plan_trigger,
    plan_unskip,
)
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.domain.switch import Switch
from tests.property.planning.world import World

GRIDS: list[Grid] = [
    Every("1m"),
    Every("7s", anchor="2026-03-29T00:00:03Z"),
    Every("5m", anchor="2026-03-29T00:00:30Z"),
    Every("1h", timezone="Europe/Rome"),
    Cron("*/2 * * * *"),
    Cron("30 2,3 * * *", timezone="Europe/Rome"),
    Cron("0 * * * *", timezone="Europe/Rome"),
]
SECONDS = st.integers(0, 400).map(lambda seconds: timedelta(seconds=seconds))
SHORT = st.sampled_from([timedelta(seconds=seconds) for seconds in (1, 20, 90, 400)])
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "grid": st.sampled_from(GRIDS),
        "args": st.sampled_from([{}, {"n": 1}]),
        "catch_up": st.booleans(),
        "catch_up_within": st.none() | SHORT,
        "catch_up_max": st.none() | st.integers(0, 3),
        "tolerance": st.sampled_from([timedelta(0), timedelta(seconds=60)]),
        "deadline": st.none() | SHORT,
        "overlap": st.sampled_from(["skip", "wait", "allow", "replace"]),
        "jitter": st.just(timedelta(0)) | SHORT,
        "limit": st.none() | st.integers(1, 6),
        "retry": st.integers(0, 2) | st.just(Retry(2, jitter="5s", only=OSError)),
        "on_unknown": st.sampled_from(["rerun", "skip", "hold"]),
        "enabled": st.booleans(),
    },
)
PICK = st.integers(0, 1000)
HOLD, REJECT = Switch("stop", "all", "hold"), Switch("stop", "job:bill")


class AnyOrder(RuleBasedStateMachine):
    """Events of every kind; the world checks the invariants each time something is applied."""

    world: World

    @initialize(grid=st.sampled_from(GRIDS), policies=POLICIES)
    def begin(self, grid: Grid, policies: dict[str, Any]) -> None:
        self.world = World(define(**{"job": "bill", "grid": grid, **policies}))
        self.world.perform(plan_start)

    @rule(by=SECONDS)
    def time_passes(self, by: timedelta) -> None:
        self.world.travel(by)

    @rule(hours=st.integers(1, 30))
    def a_long_downtime(self, hours: int) -> None:
        if self.world.schedule.definition.grid.times(self.world.now, 2)[-1] > (
            self.world.now + timedelta(seconds=30)
        ):
            self.world.travel(timedelta(hours=hours))

    @rule()
    def time_comes_to_the_next_row(self) -> None:
        for row in self.world.next_rows():
            self.world.travel(max(timedelta(0), row.due_at - self.world.now))

    @rule()
    def time_comes_to_the_next_slot(self) -> None:
        for row in self.world.next_rows():
            self.world.travel(max(timedelta(0), row.run_at - self.world.now))

    @rule(grid=st.sampled_from(GRIDS), what=st.sampled_from(["disable", "pause", "edit"]))
    def it_is_stopped_or_edited_right_at_a_slot(self, grid: Grid, what: str) -> None:
        self.time_comes_to_the_next_slot()
        if what == "disable":
            self.world.perform(plan_disable)
        elif what == "pause":
            self.world.perform(plan_pause)
        else:
            to = self.world.schedule.definition.edited(grid=grid, jitter="20s")
            self.world.perform(plan_edit, to=to)

    @rule(by=st.integers(1, 90))
    def the_store_clock_steps_back(self, by: int) -> None:
        self.world.now -= timedelta(seconds=by)

    @rule()
    def the_next_row_is_claimed(self) -> None:
        for row in self.world.next_rows():
            self.world.claim(row)

    @rule(pick=PICK)
    def any_row_is_claimed(self, pick: int) -> None:
        if rows := self.world.all_rows():
            row = rows[pick % len(rows)]
            claim = self.world.claim(row)
            assert row.is_live or claim.verdict is Verdict.STALE

    @rule()
    def two_workers_claim_the_same_row(self) -> None:
        world = self.world
        for row in world.next_rows():
            claims = [world.judge(row) for _ in range(2)]
            if claims[0].verdict in (Verdict.START, Verdict.SKIP, Verdict.MISS):
                assert [world.apply(claim.plan) for claim in claims] == [True, False]
            if claims[0].verdict is Verdict.START:
                world.lease(row.id)

    @rule(switch=st.none() | st.sampled_from([HOLD, REJECT]))
    def a_switch_is_turned(self, switch: Switch | None) -> None:
        self.world.switch = switch

    @rule(switch=st.none() | st.sampled_from([HOLD, REJECT]))
    def a_switch_is_turned_in_the_middle_of_a_claim(self, switch: Switch | None) -> None:
        world = self.world
        before = world.switch
        for row in world.next_rows():
            claim = world.judge(row)
            world.switch = switch
            if claim.verdict in (Verdict.START, Verdict.SKIP, Verdict.MISS):
                assert world.apply(claim.plan) == (switch == before)
                if claim.verdict is Verdict.START and switch == before:
                    world.lease(row.id)

    @rule(pick=PICK, end=st.sampled_from(["success", "OSError", "ValueError", "later", "given up"]))
    def an_attempt_ends(self, pick: int, end: str) -> None:
        world = self.world
        if rows := world.running():
            row = rows[pick % len(rows)]
            if end == "success":
                plan = plan_success(row, world.moment)
            elif end == "given up":
                plan = plan_given_up(row, world.moment)
            elif end == "later":
                wait = timedelta(seconds=pick)
                plan = plan_retry_later(world.schedule, row, world.moment, after=wait)
            else:
                types = (f"builtins.{end}",)
                plan = plan_failure(world.schedule, row, world.moment, error="boom", types=types)
            assert world.apply(plan)
            assert not world.apply(plan)

    @rule()
    def leases_expire(self) -> None:
        world = self.world
        for row in world.running():
            plan = plan_rescue(world.schedule, row, world.all_rows(), world.moment)
            assert row.leased_until is not None
            assert plan.is_empty == (row.leased_until > world.now)
            assert world.apply(plan)

    @rule(pick=PICK, begun=st.booleans())
    def a_worker_stops(self, pick: int, *, begun: bool) -> None:
        world = self.world
        if rows := world.running():
            row = rows[pick % len(rows)]
            plan = (
                plan_interruption(world.schedule, row, world.all_rows(), world.moment)
                if begun
                else plan_release(world.schedule, row, world.moment)
            )
            assert world.apply(plan)

    @rule(policies=POLICIES)
    def it_is_edited(self, policies: dict[str, Any]) -> None:
        to = self.world.schedule.definition.edited(**policies)
        self.world.perform(plan_edit, to=to)

    @rule(by=st.none() | st.integers(-200, 900))
    def its_end_is_edited(self, by: int | None) -> None:
        until = None if by is None else self.world.now + timedelta(seconds=by)
        to = self.world.schedule.definition.edited(until=until)
        self.world.perform(plan_edit, to=to)

    @rule(verb=st.sampled_from([plan_enable, plan_disable, plan_resume, plan_reconcile]))
    def a_plain_verb(self, verb: Callable[..., Plan]) -> None:
        first = self.world.perform(verb)
        assert self.world.perform(verb).is_empty, (verb, first)

    @rule(seconds=st.none() | st.integers(1, 600), slots=st.integers(0, 2))
    def it_is_paused(self, seconds: int | None, slots: int) -> None:
        until = None if seconds is None else self.world.now + timedelta(seconds=seconds)
        if until and slots:
            until = self.world.schedule.definition.grid.times(self.world.now, slots)[-1]
        self.world.perform(plan_pause, until=until)
        assert self.world.perform(plan_pause, until=until).is_empty

    @rule(ahead=st.integers(1, 4))
    def a_slot_is_skipped(self, ahead: int) -> None:
        slot = self.world.schedule.definition.grid.times(self.world.now, ahead)[-1]
        if slot > self.world.schedule.cursor and not self.world.schedule.deleted:
            self.world.perform(plan_skip, run_at=slot)
            assert self.world.perform(plan_skip, run_at=slot).is_empty

    @rule(pick=PICK)
    def a_slot_is_put_back(self, pick: int) -> None:
        rows = [
            row
            for row in self.world.all_rows()
            if row.state is State.SKIPPED and row.run_at > self.world.latest
        ]
        if rows and not self.world.schedule.deleted:
            self.world.perform(plan_unskip, run_at=rows[pick % len(rows)].run_at)

    @precondition(lambda self: not self.world.schedule.deleted)
    @rule()
    def it_is_triggered(self) -> None:
        assert self.world.apply(plan_trigger(self.world.schedule, self.world.moment))

    @precondition(lambda self: not self.world.schedule.deleted)
    @precondition(lambda self: self.world.schedule.allows_start(self.world.now))
    @rule(back=st.integers(0, 900))
    def it_is_backfilled(self, back: int) -> None:
        world = self.world
        start = world.now - timedelta(seconds=back)
        plan = world.perform(plan_backfill, start=start, end=world.now)
        assert all(draft.kind is Kind.BACKFILL for draft in plan.creates)
        assert all(draft.run_at <= world.schedule.cursor for draft in plan.creates)
        assert world.perform(plan_backfill, start=start, end=world.now).is_empty

    @precondition(lambda self: self.world.schedule.revision > 4)
    @rule(really=st.integers(0, 9))
    def it_is_deleted(self, really: int) -> None:
        if really == 0:
            self.world.perform(plan_delete)
            assert self.world.perform(plan_delete).is_empty

    def teardown(self) -> None:
        if hasattr(self, "world"):
            # Slots that a clock set back shows again pass under the rules that are in force now.
            self.world.travel(self.world.latest - self.world.now)
            self.world.run_until_quiet()


TestAnyOrderOfEvents = AnyOrder.TestCase
