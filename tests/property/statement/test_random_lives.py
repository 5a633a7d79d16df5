"""Random lives of a schedule, by time travel: each demanded slot has one outcome, the right one.

The recomputation in `tests.unit.statement.lives` shares no code with statements: it lists the slots
by `grid.between`, and finds the row or the range of each.
"""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sempre import Cron, Every, Retry, Sempre
from sempre.domain.statement.outcomes import Outcome
from sempre.errors import Refused
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.testing import TimeTravel
from tests.unit.statement.lives import TICK, account_slots, checked

GRIDS: list[Grid] = [
    Every("1h"),
    Every("5h", anchor="2026-01-01 00:20Z"),
    Cron("30 2 * * *", timezone="Europe/Rome"),
    Cron("*/40 * * * *", timezone="Europe/Rome"),
    Every("1 day", anchor="2026-01-31 09:00", timezone="Europe/Rome"),
]
START = read_instant("start", "2026-02-26 00:10Z")
MONTHS = ["2026-02", "2026-03", "2026-04"]
hours = st.integers(1, 150).map(lambda count: timedelta(minutes=23 * count))
verbs = st.sampled_from(
    [
        *("travel", "travel", "outage", "pause", "pause for", "resume", "disable", "enable"),
        *("edit", "skip", "backfill", "trigger", "slow", "quick", "until", "limit", "queue"),
    ]
)
options = st.fixed_dictionaries(
    {
        "catch_up": st.booleans(),
        "overlap": st.sampled_from(["skip", "wait", "allow"]),
        "jitter": st.sampled_from(["0s", "10m"]),
        "deadline": st.sampled_from([None, "2h"]),
        "retry": st.sampled_from([Retry(0), Retry(2, base="5m")]),
    }
)


class Life:
    """One schedule whose life is random, and the grids that it had."""

    def __init__(self, app: Sempre, travel: TimeTravel, grid: Grid) -> None:
        self.app, self.travel = app, travel
        self.grids: list[tuple[datetime, Grid]] = [(travel.now, grid)]

    def act(self, verb: str, length: timedelta, grid: Grid) -> None:
        schedule, travel = self.app.schedule("job"), self.travel
        try:
            if verb == "outage":
                travel.outage(length)
            elif verb == "edit":
                if schedule.move_to(grid):
                    self.grids.append((travel.now, grid))
            else:
                self._other(verb, length)
        except Refused:
            pass
        travel.travel(length)

    def _other(self, verb: str, length: timedelta) -> None:
        schedule, now = self.app.schedule("job"), self.travel.now
        acts: dict[str, Any] = {
            "pause": schedule.pause,
            "pause for": lambda: schedule.pause(until=now + length),
            "resume": schedule.resume,
            "disable": schedule.disable,
            "enable": schedule.enable,
            "skip": lambda: schedule.skip(schedule.next_run_at_times(after=now, count=2)[1]),
            "backfill": lambda: schedule.backfill(now - length, now),
            "trigger": schedule.trigger,
            "slow": lambda: self.travel.takes("job", "3h"),
            "quick": lambda: self.travel.takes("job", "1m"),
            "until": lambda: schedule.edit(until=now + length),
            "limit": lambda: schedule.edit(limit=30),
            "queue": lambda: schedule.edit(priority=int(length.total_seconds())),
        }
        acts.get(verb, lambda: None)()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    grid=st.sampled_from(GRIDS),
    policies=options,
    acts=st.lists(st.tuples(verbs, hours, st.sampled_from(GRIDS)), max_size=12),
    fails=st.sets(st.integers(0, 23), max_size=6),
    zone=st.sampled_from(["UTC", "Europe/Rome", "Pacific/Auckland"]),
)
def test_every_demanded_slot_has_one_outcome_and_the_sum_is_the_demand(
    grid: Grid, policies: dict[str, Any], acts: list[Any], fails: set[int], zone: str
) -> None:
    app = Sempre("memory://", retention="900d", action_retention="900d")

    @app.job
    def job() -> None:
        if travel.now.hour in fails:
            raise ValueError("bad hour")

    with app.testing(START) as travel:
        app.put_schedule("job", grid, job, **policies)
        life = Life(app, travel, grid)
        for act in acts:
            life.act(*act)
        for month in MONTHS:
            _check(app, life, month, zone)


def _check(app: Sempre, life: Life, month: str, zone: str) -> None:
    statement = app.statement(month=month, zone=zone)
    found = [each for each in statement if each.name == "job"]
    if not found:
        return
    totals = checked(statement, "job").totals
    period = statement.period
    until = min(period.end - TICK, life.travel.now)
    expected = account_slots(app, "job", life.grids, until)
    expected = {slot: may for slot, may in expected.items() if slot >= period.start}
    ended = _after_the_end(app, until)
    assert totals.unexplained == 0
    listed: dict[datetime, Outcome] = {}
    for _, entry in statement.slots():
        inside = [slot for slot in expected if entry.first <= slot <= entry.last]
        assert len(inside) == entry.count, entry
        listed |= dict.fromkeys(inside, entry.outcome)
    assert sum(totals.outcomes.values()) == totals.demanded == len(listed)
    for slot, may in expected.items():
        if slot in listed:
            assert listed[slot] in may, slot
        else:
            assert slot in ended or may == {Outcome.WAITING, Outcome.SKIPPED}, slot


def _after_the_end(app: Sempre, until: datetime) -> set[datetime]:
    """Return the slots that an ended schedule does not demand."""
    schedule = app.schedule("job").row
    if not schedule.ended:
        return set()
    return set(schedule.definition.grid.between(schedule.cursor, until))
