"""Random definitions of schedules: every policy, on grids of seconds to hours."""

from datetime import datetime, timedelta

from sempre.domain.definition import Definition, define
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.policies import Retry
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.testing.simulation.chance import Chance

__all__ = ["JOBS", "draw_definition", "draw_edit", "draw_grid"]

JOBS = ("bill", "mail", "purge")
INTERVALS = (3, 5, 10, 30, 60, 60, 300, 900, 3600)
CRONS = ("*/10 * * * * *", "*/2 * * * *", "*/5 * * * *", "7,37 * * * *", "30 2 * * *")
# Few: with the default, a world of some hours would never purge an execution.
KEPT = 3
# How many of the schedules of a world have limits, besides those that draw the policy.
LIMITED = 0.3
ZONES = ("UTC", "Europe/Rome", "America/New_York")


def draw_grid(chance: Chance) -> Grid:
    """Return a grid whose slots are seconds to hours apart, now and then a day."""
    if chance.happens(0.6):
        return Every(chance.choice(INTERVALS))
    return Cron(chance.choice(CRONS), timezone=chance.choice(ZONES))


def draw_definition(chance: Chance, now: datetime, tolerance: timedelta) -> Definition:
    """Return a definition, mostly plain, with some policies."""
    job = chance.choice(JOBS)
    plain = define(job=job, grid=draw_grid(chance), tolerance=tolerance, keep=KEPT)
    given: dict[str, object] = {}
    for name in chance.sample(sorted(_POLICIES), chance.randrange(7)):
        given |= draw_edit(chance, now, name)
    if chance.happens(LIMITED):
        given |= draw_edit(chance, now, "limits")
    return plain.edited(**given)


def draw_edit(chance: Chance, now: datetime, name: str = "") -> dict[str, object]:
    """Return a new value for one field of a definition; without a name, for a random field."""
    chosen = name or chance.choice(sorted(_POLICIES))
    value = chance.choice(_POLICIES[chosen])
    if chosen == "until" and value is not None:
        value = now + timedelta(seconds=float(str(value)))
    return {chosen: value}


_POLICIES: dict[str, tuple[object, ...]] = {
    "args": ({}, {"region": "eu"}, {"region": 1}),
    "catch_up": (True, True, False),
    "catch_up_within": (None, "30s", "5m"),
    "catch_up_max": (None, 0, 1, 3),
    "tolerance": ("0s", "10s", "2m"),
    "deadline": (None, "2s", "20s", "5m"),
    "overlap": ("skip", "wait", "allow", "replace"),
    "jitter": ("0s", "2s", "30s"),
    "until": (None, 60, 300, 1200),
    "limit": (None, 1, 3, 20),
    "retry": (
        1,
        Retry(3, base="1s", cap="10s"),
        Retry(2, base="30s", jitter="10s"),
        Retry(3, base="1s", only=OSError, never=TimeoutError),
    ),
    "timeout": (None, "2s", "30s"),
    "on_unknown": ("rerun", "skip", "hold"),
    "queue": ("default", "slow"),
    "priority": (0, 1000, 5000),
    "job": JOBS,
    "tags": ((), ("night",)),
    "limits": (
        (),
        (Concurrency(1),),
        (Concurrency(1, tag="smtp"),),
        (Concurrency(2, tag="smtp"), Rate("3/20s", tag="smtp")),
    ),
}
