"""A million random instants of 1900 to 2100, in any zone, against the same oracles."""

from datetime import datetime
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sempre import Cron, Every
from sempre.errors import NeverFires
from tests.long.tally import Tally
from tests.property.grids.oracles import (
    DAY,
    AnchorGrid,
    Expression,
    cron_slots,
    second_of,
    utc,
)
from tests.property.grids.questions import MICROSECOND, wrong_answers
from tests.property.grids.strategies import (
    FOLDS,
    GAPS,
    CronCase,
    Moment,
    anchor_grids,
    any_zone,
    cron_cases,
    cron_texts,
    instants,
)
from tests.property.grids.test_cron_by_cronsim import (
    cases,
    is_shared,
    misleads,
    next_by_cronsim,
    next_by_sempre,
    skips_midnight,
)

pytestmark = pytest.mark.long

MANY = settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
FEWER = settings(max_examples=5_000, suppress_health_check=list(HealthCheck))
A_WINDOW = 100
CRON, EVERY, CRONSIM = Tally("cron, random"), Tally("anchors, random"), Tally("cronsim, random")

anywhere = st.builds(
    CronCase,
    cron_texts(),
    any_zone(),
    instants(),
    st.sampled_from(GAPS),
    st.sampled_from(FOLDS),
)


@MANY
@given(st.one_of(anywhere, cron_cases()), st.randoms(use_true_random=False))
def check_cron(case: CronCase, random: Random) -> None:
    start, end = second_of(case.at) - DAY, second_of(case.at) + DAY
    try:
        grid = Cron(case.text, timezone=case.zone, gap=case.gap, fold=case.fold)
    except NeverFires:
        assume(False)  # noqa: FBT003 - the name of the argument says less
    slots = cron_slots(case.text, case.zone, start, end, gap=case.gap, fold=case.fold)
    span = (end - start) * 1_000_000
    asked = [utc(start) + random.randrange(span) * MICROSECOND for _ in range(A_WINDOW)]

    assert not wrong_answers(grid, [utc(slot) for slot in slots], asked, utc(end))
    CRON.add("texts", [case.text])
    CRON.add("zone names", [case.zone])
    CRON.count("instants", len(asked))


@MANY
@given(anchor_grids(), instants())
def check_every(case: tuple[AnchorGrid, datetime], anywhere: datetime) -> None:
    grid, near = case
    every = Every(
        grid.count,
        grid.unit,
        anchor=grid.anchor,
        timezone=grid.name,
        gap=grid.gap,
        fold=grid.fold,
    )
    for t in (near, anywhere):
        answer = every.after(t)
        assert answer is not None
        assert grid.slots(t, answer) == [answer]
    EVERY.add("grids", [grid])
    EVERY.add("zone names", [grid.name])
    EVERY.count("instants", 2)


@FEWER
@given(cases().filter(lambda case: is_shared(case[0]) and not misleads(case[1])))
def check_cronsim(case: tuple[str, Moment]) -> None:
    text, moment = case
    expected = next_by_cronsim(text, moment.zone, moment.at, 5)
    end = max([moment.at, *expected])
    assume(Expression(text).is_fixed or not skips_midnight(moment.zone, moment.at, end))

    assert next_by_sempre(text, moment.zone, moment.at, 5) == expected
    CRONSIM.add("texts", [text])
    CRONSIM.add("zone names", [moment.zone])
    CRONSIM.count("instants", 5)


def test_a_million_random_instants_have_their_next_match() -> None:
    check_cron()

    CRON.report()
    assert CRON.numbers["instants"] >= 900_000


def test_random_anchors_have_their_next_point() -> None:
    check_every()

    EVERY.report()


def test_random_texts_fire_as_in_cronsim() -> None:
    check_cronsim()

    CRONSIM.report()
