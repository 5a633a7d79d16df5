"""Switches: switch work off for a while, and on again."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Literal

from sempre.app.options import Duration
from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.names import check_name, check_note
from sempre.domain.policies import check_choice
from sempre.domain.switch import Switch
from sempre.engine.core import Engine
from sempre.engine.ids import new_id
from sempre.engine.rings import ring_all, ring_orphans
from sempre.errors import NamingError, nearest
from sempre.errors.wording import written_instant
from sempre.grids.relative_instants import read_point

__all__ = ["Mode", "StoredSwitch", "target_of"]

Mode = Literal["reject", "hold"]
KINDS = ("job", "queue", "tag", "pair")
# Rows beyond this number are left to the sweep, which needs no ticket.
MOST_RUNG = 20_000
ALLOWED = "job:NAME, queue:NAME, tag:NAME, pair:JOB or all; or the name of a known job or tag"


class StoredSwitch:
    """One switch of the store: `app.switch("provisioning")`."""

    def __init__(self, engine: Callable[[], Engine], target: str, *, actor: str) -> None:
        """Name the switch of a target, which may be on or off."""
        self._engine = engine
        self._actor = actor
        self.target = target

    def __repr__(self) -> str:
        """Show the target; the store is not read."""
        return f"<StoredSwitch {self.target}>"

    def off(
        self, reason: str, *, mode: Mode = "hold", until: Duration | datetime | None = None
    ) -> None:
        """Switch the target off. Once this has returned, only triggered runs of it start.

        Args:
            reason: shown to people who ask why nothing runs.
            mode: "hold" keeps work waiting until the switch is on again; "reject" rejects new work
                and skips slots when they are due.
            until: a length of time, such as "2h", or the instant at which the switch goes on again.
        """
        switch = self.planned(reason, mode=mode, until=until)
        after: dict[str, Json] = {"mode": switch.mode, "reason": switch.reason}
        after["until"] = written_instant(switch.until) if switch.until else None
        self._switch(switch, off=True, after=after)

    def planned(
        self, reason: str, *, mode: Mode = "hold", until: Duration | datetime | None = None
    ) -> Switch:
        """Return the switch that `off` stores."""
        return Switch(
            self.target,
            self.target,
            "hold" if check_choice("mode", mode, Mode) == "hold" else "reject",
            check_note("reason", reason),
            self._actor,
            self._end(until),
        )

    def on(self, *, why: str = "") -> None:
        """Switch the target on, and ring for held work at once. Does nothing if it is on."""
        engine = self._engine()
        self._switch(Switch(self.target, self.target, reason=why), off=False)
        if engine.bell.carries:
            # Tickets that came while the switch was off are gone.
            ring_all(engine, None, within=timedelta(0), most=MOST_RUNG)
        ring_orphans(engine)
        engine.bell.wake_workers()

    def _switch(self, switch: Switch, *, off: bool, after: Json = None) -> None:
        """Turn the switch, and log who did it and why."""
        engine, verb = self._engine(), "switch off" if off else "switch on"
        action = Action(
            id=new_id(engine.time.now()),
            verb=verb,
            target=f"switch:{self.target}",
            actor=self._actor,
            note=switch.reason,
            after=after,
        )
        engine.store.switch(switch, off=off, action=action)

    @property
    def state(self) -> Switch | None:
        """The switch with its count of rejections; None while it is on."""
        switches = self._engine().store.switches().value
        return next((each for each in switches if each.name == self.target), None)

    @property
    def is_off(self) -> bool:
        """Whether the switch is off."""
        return self.state is not None

    def _end(self, until: Duration | datetime | None) -> datetime | None:
        if until is None:
            return None
        engine = self._engine()
        zone = engine.settings.timezone
        return read_point("until", until, now=engine.present, timezone=zone)


def target_of(named: str, *, jobs: Collection[str], tags: Collection[str]) -> str:
    """Return the target of a switch from the name that a user gave.

    Raises:
        NamingError: no known job or tag has the name, or both have it: a switch without a target
            would be a trap.
    """
    kind, _, name = check_name("switch", named).partition(":")
    if named == "all" or (kind in KINDS and name):
        return named
    found = [f"job:{named}"] if named in jobs else []
    found += [f"tag:{named}"] if named in tags else []
    if len(found) == 1:
        return found[0]
    hint = f"It is both: {' and '.join(found)}." if found else nearest(named, {*jobs, *tags})
    raise NamingError("switch", named, allowed=ALLOWED, hint=hint)
