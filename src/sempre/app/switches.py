"""Switches: turning work off for a while, and on again."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Literal

from sempre.app.declaring import Declarations
from sempre.app.options import Duration
from sempre.domain.names import check_name, check_note
from sempre.domain.policies import check_choice
from sempre.domain.switch import Switch
from sempre.engine.core import Engine
from sempre.engine.watchdog import Watchdog
from sempre.errors import NamingError, nearest
from sempre.grids.points import read_point

__all__ = ["Mode", "SwitchHandle", "declared_tags", "target_of"]

Mode = Literal["reject", "hold"]
KINDS = ("job", "queue", "tag", "pair")
# More than so many are left to the sweep, which needs no ticket.
MOST_RUNG = 20_000
ALLOWED = "job:NAME, queue:NAME, tag:NAME, pair:JOB or all; or the name of a known job or tag"


class SwitchHandle:
    """One switch of an application: `app.switch("provisioning")`."""

    def __init__(self, engine: Callable[[], Engine], target: str, *, actor: str) -> None:
        """Speak of the switch of a target, on or off."""
        self._engine = engine
        self._actor = actor
        self.target = target

    def __repr__(self) -> str:
        """Show what it stops; the store is not read."""
        return f"<SwitchHandle {self.target}>"

    def off(
        self, reason: str, *, mode: Mode = "hold", until: Duration | datetime | None = None
    ) -> None:
        """Stop the target. When this has returned, nothing of it starts but what is triggered.

        Args:
            reason: for the people who wonder.
            mode: "hold" keeps everything waiting until the switch is on again; "reject" refuses
                new work and skips slots when they are due.
            until: after how long, such as "2h", or at which instant it goes on again by itself.
        """
        switch = Switch(
            self.target,
            self.target,
            "hold" if check_choice("mode", mode, Mode) == "hold" else "reject",
            check_note("reason", reason),
            self._actor,
            self._end(until),
        )
        self._engine().store.switch(switch, off=True)

    def on(self) -> None:
        """Let the target go on; what was held is rung at once. Nothing if it is on."""
        engine = self._engine()
        engine.store.switch(Switch(self.target, self.target), off=False)
        watchdog = Watchdog(engine)
        if engine.bell.carries:
            # Tickets came while it was stopped, and are gone.
            watchdog.ring_all(None, within=timedelta(0), most=MOST_RUNG)
        watchdog.ring_orphans()
        engine.bell.call()

    @property
    def state(self) -> Switch | None:
        """The switch as it is off, with how much it has rejected; None if it is on."""
        switches = self._engine().store.switches().value
        return next((each for each in switches if each.name == self.target), None)

    @property
    def is_off(self) -> bool:
        """Whether it stops its target."""
        return self.state is not None

    def _end(self, until: Duration | datetime | None) -> datetime | None:
        if until is None:
            return None
        engine = self._engine()
        zone = engine.settings.timezone
        return read_point("until", until, now=engine.present, timezone=zone)


def target_of(named: str, *, jobs: Collection[str], tags: Collection[str]) -> str:
    """Return what a switch stops, from what a user calls it.

    Raises:
        NamingError: no known job or tag is called so, or both are: a switch that stops nothing
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


def declared_tags(declarations: Declarations) -> Collection[str]:
    """Return the tags of the jobs and schedules that an application declares."""
    of_schedules = (each.definition.tags for each in declarations.schedules.values())
    of_jobs = (each.tags for each in declarations.policies.values())
    return {tag for tags in (*of_schedules, *of_jobs) for tag in tags}
