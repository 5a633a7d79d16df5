"""Kept bugs of the broker's part: messages that decide, and a broker that is believed too long."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Sequence
from datetime import datetime, timedelta

from sempre.engine.bell import Bell
from sempre.engine.claiming import Catch, Claims
from sempre.engine.fetching import Fetcher
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
        self._engine.bell.tell(lambda broker: broker.put_back([delivery], delay=delay))

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
    look = Fetcher._look

    def look_once(self: Fetcher, session: str, limit: int) -> float:
        rest = look(self, session, limit)
        self._behind = False
        return rest

    patch.setattr(Fetcher, "_look", look_once)
    patch.setattr(Fetcher, "unblock", lambda _self: None)


@bug
def a_claim_that_edits_refuse_waits_for_the_sweep(patch: Patch) -> None:
    def refuse(_self: Claims, ids: Sequence[str], catch: Catch, _session: str) -> None:
        catch.refused.update(ids)

    patch.setattr(Claims, "_claim_exclusively", refuse)
