"""Kept bugs of clocks: the store's clock jumps ahead, comes back, and something stays there."""

from datetime import datetime

from sempre.domain.schedule import Schedule
from sempre.engine.rescuer import Rescuer
from sempre.engine.watchdog import Watchdog
from sempre.ports.messages import Tick, Wanted
from sempre.stores.memory import sessions, work
from sempre.stores.memory.tables import Tables
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def a_cursor_stays_in_the_future_when_the_clock_comes_back(patch: Patch) -> None:
    patch.setattr(Schedule, "is_ahead", lambda _self, _now: False)


@bug
def a_session_that_expired_by_the_clock_is_given_up(patch: Patch) -> None:
    renew = sessions.tick

    def refuse(
        tables: Tables, session: str, wanted: Wanted, until: datetime, now: datetime
    ) -> Tick:
        if not work.is_alive(tables.sessions.get(session), now):
            tables.sessions.pop(session, None)
        return renew(tables, session, wanted, until, now)

    patch.setattr(sessions, "tick", refuse)


@bug
def leases_are_taken_back_right_after_a_jump(patch: Patch) -> None:
    patch.setattr(Rescuer, "_clock_is_in_doubt", lambda _self: False)


@bug
def a_lease_given_ahead_is_kept(patch: Patch) -> None:
    patch.setattr(Watchdog, "_shorten_leases", lambda _self: None)
