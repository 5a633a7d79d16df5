"""A plan whose store has moved on is refused, and changes nothing."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sempre.errors import NotFound, Refused
from sempre.errors.changes import MovedOn
from sempre.grids.grid import Grid
from tests.property.changing.lives import BEGIN, change, dump, grids, options, planned
from tests.property.changing.test_plans_come_true import application


@settings(max_examples=150)
@given(grids(), options(), change, change)
def test_a_plan_is_refused_after_another_change(
    grid: Grid,
    policies: dict[str, Any],
    first: tuple[str, dict[str, Any]],
    second: tuple[str, dict[str, Any]],
) -> None:
    app = application(grid, policies)
    with app.testing(BEGIN):
        try:
            plan, other = (planned(app, *each, days=2) for each in (first, second))
        except (NotFound, Refused):
            return
        if not plan.steps or not other.steps or plan.steps[0].step == other.steps[0].step:
            return
        app.apply(other)
        after = dump(app)
        try:
            [applied] = app.apply(plan)
        except MovedOn as moved:
            assert re.search("revision|gone", str(moved))  # noqa: PT017 - or it was done
        else:
            assert not applied.done  # the other change had the same effect

        assert dump(app) == after


@settings(max_examples=100)
@given(grids(), options(), change, st.sampled_from(["1m", "40m", "9h"]))
def test_a_plan_holds_until_the_first_slot_that_it_changes(
    grid: Grid, policies: dict[str, Any], first: tuple[str, dict[str, Any]], waits: str
) -> None:
    app = application(grid, policies)
    with app.testing(BEGIN) as t:
        try:
            plan = planned(app, *first, days=2)
        except (NotFound, Refused):
            return
        if not plan.steps:
            return
        t.travel(waits)

        try:
            app.apply(plan)
        except MovedOn:
            # The instant of a pause, or the slot to skip, may have passed as well.
            is_instant = first[0] in ("pause", "skip")
            has_come = plan.holds_until is not None and plan.holds_until <= t.now
            # An execution that waits for its jitter after its slot ends instead of being replaced.
            assert is_instant or has_come or "jitter" in policies
            if not is_instant:
                assert app.apply(plan, late=True)
        else:
            assert plan.holds_until is None or plan.holds_until > t.now
