"""Random schedules and changes on virtual time, and what a store has on record."""

from typing import Any

from hypothesis import strategies as st

from sempre import Cron, Every, Sempre
from sempre.app.changes.change_plan import ChangePlan
from sempre.app.transfer.lines import write_line
from sempre.app.transfer.reading import Export
from sempre.grids.grid import Grid

__all__ = ["BEGIN", "NAME", "change", "dump", "grids", "options", "planned"]

NAME = "bill"
BEGIN = "2026-03-28 05:17Z"
"""The clocks of Rome change on 29 March 2026, one day after each life begins."""
ZONES = st.sampled_from(["UTC", "Europe/Rome", "America/New_York"])
CRONS = ("30 2 * * *", "*/20 * * * *", "15 1-4 * * *", "0 */3 * * *", "5 2,14 * * *", "30 * * * *")


def grids() -> st.SearchStrategy[Grid]:
    """Return cron rules and intervals with few to many slots in a day."""
    policies = {
        "timezone": ZONES,
        "gap": st.sampled_from(["shift", "skip"]),
        "fold": st.sampled_from(["first", "last", "both"]),
    }
    crons = st.builds(Cron, st.sampled_from(CRONS), **policies)
    lengths = st.sampled_from(["7m", "90m", "5h", "1 day"])
    anchors = st.sampled_from(["2026-01-01 02:30", None])
    return crons | st.builds(Every, lengths, anchor=anchors, **policies)


def options() -> st.SearchStrategy[dict[str, Any]]:
    """Return policies that decide which slots run, and when."""
    return st.fixed_dictionaries(
        {},
        optional={
            "jitter": st.sampled_from(["0s", "4m", "1h"]),
            "until": st.sampled_from(["2026-03-29 01:30Z", "2026-03-30 12:00Z"]),
            "limit": st.integers(1, 40),
            "catch_up": st.booleans(),
            "enabled": st.booleans(),
        },
    )


LENGTHS = st.sampled_from(["10m", "3h", "26h"])
EDITS = st.one_of(
    st.fixed_dictionaries({"cron": st.sampled_from(CRONS)}),
    st.fixed_dictionaries({"every": st.sampled_from(["7m", "90m", "1 day"])}),
    st.fixed_dictionaries({"timezone": ZONES, "priority": st.integers(1, 3)}),
    options(),
)
change = st.one_of(
    st.tuples(st.just("edit"), EDITS),
    st.tuples(st.just("pause"), st.fixed_dictionaries({"until": LENGTHS | st.none()})),
    st.tuples(
        st.sampled_from(["resume", "enable", "disable", "delete", "skip"]),
        st.fixed_dictionaries({}),
    ),
)


def planned(app: Sempre, verb: str, given: dict[str, Any], *, days: float) -> ChangePlan:
    """Plan a change, with as many slots in its lists as there are."""
    planner = app.plan.covering(days, listed=100_000)
    made: ChangePlan = getattr(planner, verb)(NAME, **given)
    return made


def dump(app: Sempre) -> list[str]:
    """Return every record of the store."""
    return [write_line(each) for each in Export(app.engine.store).records()]
