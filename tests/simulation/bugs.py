"""Kept bugs: mistakes that were made or nearly made, to be put into the engine for a while."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from sempre.domain.action import Act
from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, claim, plan_crash
from sempre.domain.planning.plan import Change, PlanBuilder
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.engine import rescuer
from sempre.engine.bell import Bell
from sempre.engine.breaker import Breaker
from sempre.engine.claims import ClaimResult
from sempre.engine.claims_in_hand import ClaimsInHand
from sempre.engine.core import Engine, born_by
from sempre.engine.deliveries import Deliveries
from sempre.engine.fetcher import Fetcher
from sempre.engine.pass_turn import PassTurn
from sempre.engine.rescuer import Rescuer
from sempre.engine.settler import Settler
from sempre.engine.store_source import StoreSource
from sempre.engine.ticket_source import TicketSource
from sempre.engine.tickets import WatchdogCall
from sempre.engine.watchdog import Watchdog
from sempre.engine.worker import Worker
from sempre.errors import StoreUnavailable
from sempre.ports.broker import Delivery
from sempre.ports.messages import Candidate, Order, Reading, Settled, Settlement, Waiting
from sempre.stores import guard
from sempre.stores.memory import MemoryStore, work
from sempre.stores.memory.tables import Tables

__all__ = ["BUGS", "Patch", "bug"]

Patch = pytest.MonkeyPatch
BUGS: dict[str, Callable[[Patch], None]] = {}


def bug(put: Callable[[Patch], None]) -> Callable[[Patch], None]:
    """Keep a bug under the name of the function that puts it in."""
    BUGS[put.__name__.replace("_", " ")] = put
    return put


@bug
def a_ticket_that_came_early_is_dropped(patch: Patch) -> None:
    original = Deliveries.give_back

    def drop(
        self: Deliveries,
        tickets: Mapping[str, Delivery],
        result: ClaimResult,
        finished: list[Delivery],
    ) -> None:
        original(self, tickets, replace(result, early={}), finished)

    patch.setattr(Deliveries, "give_back", drop)


@bug
def nobody_sweeps(patch: Patch) -> None:
    original = StoreSource._run_scan

    def scan(self: StoreSource, session: str, limit: int, **given: bool) -> None:
        if self._engine.bell.is_silent:
            original(self, session, limit, **given)
        self._sweep_at = self._engine.clock.elapsed() + 15

    patch.setattr(StoreSource, "_run_scan", scan)


@bug
def a_successor_is_neither_rung_nor_expected(patch: Patch) -> None:
    original = Fetcher._begin
    patch.setattr(Fetcher, "_begin", lambda self, result: original(self, replace(result, born=[])))


@bug
def a_successor_is_not_written(patch: Patch) -> None:
    original = Engine.order

    def order(self: Engine, plan: Plan, act: Act | None = None) -> Order:
        kept = () if plan.has_start else plan.creates
        return original(self, copy_with(plan, creates=kept), act)

    patch.setattr(Engine, "order", order)


@bug
def a_rescue_ignores_the_lease(patch: Patch) -> None:
    def expired(self: MemoryStore, limit: int) -> Reading[list[Candidate]]:
        with self._at_once() as (tables, now):
            rows = [row for row in tables.executions.values() if row.state is State.RUNNING]
            return Reading(now, [tables.candidate(row) for row in rows[:limit]])

    patch.setattr(MemoryStore, "expired", expired)
    patch.setattr(rescuer, "plan_rescue", plan_crash)
    patch.setattr(Change, "is_rescue", False)


@bug
def a_settle_does_not_look_at_the_fence(patch: Patch) -> None:
    original = work.settle

    def settle(tables: Tables, settlement: Settlement, session: str, now: datetime) -> Settled:
        current = tables.executions.get(settlement.execution.id)
        changes = settlement.plan.changes
        if current is None or current.state is not State.RUNNING or not changes:
            return original(tables, settlement, session, now)
        tables.put(copy_with(changes[0].after, fence=current.fence))
        return Settled.DONE

    patch.setattr(work, "settle", settle)


@bug
def a_ticket_is_let_go_of_before_its_claim(patch: Patch) -> None:
    original = TicketSource._open

    def opened(self: TicketSource, deliveries: Sequence[Delivery], session: str) -> None:
        self._engine.bell.attempt(lambda broker: broker.acknowledge(deliveries))
        original(self, deliveries, session)

    patch.setattr(TicketSource, "_open", opened)


@bug
def the_watchdogs_message_is_not_put_back(patch: Patch) -> None:
    def call(self: TicketSource, _delivery: Delivery, _call: WatchdogCall) -> None:
        self._call_watchdog()

    patch.setattr(TicketSource, "_answer_watchdog", call)


@bug
def the_breaker_never_closes(patch: Patch) -> None:
    patch.setattr(Breaker, "succeeded", lambda _self: False)


@bug
def the_sentinel_is_ignored(patch: Patch) -> None:
    patch.setattr(Watchdog, "_stands", lambda _self, _report, _queue: True)


@bug
def a_lost_session_is_used_again(patch: Patch) -> None:
    patch.setattr(Worker, "_lose_session", lambda _self: None)


@bug
def a_claim_whose_answer_was_lost_is_forgotten(patch: Patch) -> None:
    patch.setattr(ClaimsInHand, "add_lost", lambda _self, _session: [])


@bug
def a_claim_whose_answer_was_lost_starts_twice(patch: Patch) -> None:
    def begin_again(self: Worker) -> None:
        running = self.engine.store.running(self.heartbeat.session).value
        self._begin([self.spec.run(row, None, self.engine.settings) for row in running])

    patch.setattr(Worker, "_give_back_unknown", begin_again)


@bug
def a_retry_is_not_rung(patch: Patch) -> None:
    patch.setattr(Settler, "_ring", lambda _self, _finished, _waiting: None)


@bug
def what_could_not_be_settled_is_forgotten(patch: Patch) -> None:
    original = Worker.settle

    def settle(self: Worker, *, wait: float = 0.0) -> float:
        try:
            return original(self, wait=wait)
        except StoreUnavailable:
            self._ends.unsettled = []
            return 0.0

    patch.setattr(Worker, "settle", settle)


@bug
def the_attempt_is_the_fence(patch: Patch) -> None:
    def hand_over(tables: Tables, row: Execution, session: str) -> Execution:
        tables.put(copy_with(row, session=session, fence=row.attempt))
        return tables.leased(tables.executions[row.id])

    patch.setattr(work, "_hand_over", hand_over)


@bug
def a_pass_waits_for_its_message(patch: Patch) -> None:
    patch.setattr(PassTurn, "has_come", lambda _self, _tick: False)
    patch.setattr(Watchdog, "ensure", lambda _self: None)


@bug
def claims_made_from_the_same_reading_overlap(patch: Patch) -> None:
    def count(builder: PlanBuilder, row: Execution) -> None:
        if row.is_untried and row.occupies_slot:
            builder.update(starts=builder.schedule.starts + 1)

    patch.setattr(claim, "_count_start", count)


@bug
def the_store_does_not_compare_revisions(patch: Patch) -> None:
    def stands(_plan: Plan, base: Schedule, facts: guard.Facts) -> bool:
        return facts.position_of(base.id) is not None

    patch.setattr(guard, "_base_stands", stands)


@bug
def the_broker_counts_as_told_whatever_it_says(patch: Patch) -> None:
    original = Bell.ring

    def ring(self: Bell, rows: Sequence[Execution], now: datetime) -> int:
        listed = list(rows)
        told = original(self, listed, now)
        self._mark([row.id for row in listed if row.state is State.PENDING])
        self.has_unrung = False
        return told

    patch.setattr(Bell, "ring", ring)


@bug
def a_lease_is_renewed_after_it_has_expired(patch: Patch) -> None:
    def is_alive(session: Any, _now: datetime) -> bool:  # noqa: ANN401 - a bug takes anything
        return session is not None

    patch.setattr(work, "is_alive", is_alive)


@bug
def the_ticket_of_a_superseded_row_is_deleted(patch: Patch) -> None:
    original = Engine.carry_out

    def carry_out(
        self: Engine,
        plan_again: Callable[[], Plan | None],
        *,
        act: Act | None = None,
        tries: int = 5,
    ) -> Order | None:
        order = original(self, plan_again, act=act, tries=tries)
        for change in order.plan.changes if order else ():
            if change.after.state is State.SUPERSEDED:
                [message] = self.bell._messages([Waiting.of(change.before)], self.time.now())
                stale = [Delivery(message, "1", "1")]
                self.bell.attempt(lambda broker, stale=stale: broker.acknowledge(stale))  # type: ignore[misc]
        return order

    patch.setattr(Engine, "carry_out", carry_out)


@bug
def what_has_expired_is_taken_back_without_comparing(patch: Patch) -> None:
    patch.setattr(guard.Progress, "of", classmethod(lambda _cls, _row: "any"))


@bug
def only_the_pass_takes_leases_back(patch: Patch) -> None:
    rescue, run = Rescuer.rescue, Watchdog._run
    patch.setattr(Rescuer, "rescue", lambda _self: 0)

    def run_and_rescue(self: Watchdog, report: Any, begun: Any, every: Any) -> None:  # noqa: ANN401
        rescue(Rescuer(self._engine))
        run(self, report, begun, every)

    patch.setattr(Watchdog, "_run", run_and_rescue)


@bug
def the_watchdog_is_seen_to_only_when_idle(patch: Patch) -> None:
    maintain = Worker.maintain

    def when_idle(self: Worker) -> float:
        if self.capacity.is_idle:
            return maintain(self)
        self.maintenance.rescuer.rescue()
        return 1.0

    patch.setattr(Worker, "maintain", when_idle)


@bug
def a_ticket_is_put_before_its_row_is_written(patch: Patch) -> None:
    original = Engine.order

    def order(self: Engine, plan: Plan, act: Act | None = None) -> Order:
        made = original(self, plan, act)
        self.bell.ring(born_by(made, self.time.now()), self.time.now())
        return made

    patch.setattr(Engine, "order", order)
