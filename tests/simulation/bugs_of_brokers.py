"""Kept bugs of the broker's part: messages that decide, and a broker that is believed too long."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Sequence
from datetime import datetime, timedelta

from sempre.engine.bell import Bell
from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.store_source import StoreSource
from sempre.engine.tickets import WatchdogCall
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Delivery
from sempre.ports.messages import Pass
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def a_watchdogs_message_comes_again_as_it_is(patch: Patch) -> None:
    def answer(self: WatchdogMessage, delivery: Delivery, call: WatchdogCall) -> None:
        delay = float(call.interval)
        self._engine.bell.attempt(lambda broker: broker.put_back([delivery], delay=delay))

    patch.setattr(WatchdogMessage, "answer", answer)


@bug
def a_pass_believes_every_due_date(patch: Patch) -> None:
    def is_due(self: Pass, now: datetime, _every: timedelta) -> bool:
        return self.due_at <= now

    patch.setattr(Pass, "is_due", is_due)


@bug
def a_broker_that_delivers_nothing_is_believed(patch: Patch) -> None:
    patch.setattr(Bell, "mark_deaf", lambda _self, _lane: None)


@bug
def a_sweep_takes_one_slot_of_a_schedule(patch: Patch) -> None:
    scan = StoreSource._run_scan

    def scan_once(self: StoreSource, session: str, limit: int, **given: bool) -> None:
        scan(self, session, limit, **given)
        self._is_behind = False

    patch.setattr(StoreSource, "_run_scan", scan_once)
    patch.setattr(StoreSource, "unblock", lambda _self: False)


@bug
def a_claim_that_edits_refuse_waits_for_the_sweep(patch: Patch) -> None:
    def refuse(_self: Claims, ids: Sequence[str], _session: str) -> ClaimResult:
        return ClaimResult(refused=set(ids))

    patch.setattr(Claims, "_claim_exclusively", refuse)
