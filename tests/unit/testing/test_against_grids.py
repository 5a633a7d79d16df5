"""Whatever the schedules and troubles of a journey, the slots that run are those of the grids."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from sempre import Cron, Every, Grid, Sempre

ZONES = ("UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
TEXTS = ("*/20 * * * *", "30 2 * * *", "0 0,12 * * *", "15 1-3 * * *", "0 9 * * 1-5", "0 3 29 3 *")
INTERVALS = ("7m", "1h", "5h", "1d", "1w", "1mo")
SWEEP = timedelta(seconds=15)

zones = st.sampled_from(ZONES)
grids: st.SearchStrategy[Grid] = st.one_of(
    st.builds(lambda text, zone: Cron(text, timezone=zone), st.sampled_from(TEXTS), zones),
    st.builds(lambda every, zone: Every(every, timezone=zone), st.sampled_from(INTERVALS), zones),
)
# Around the changes of the clocks, where they differ most.
starts = st.sampled_from([(3, 27), (10, 23), (12, 30)]).map(
    lambda day: datetime(2026, *day, tzinfo=UTC)
)
legs = st.lists(
    st.tuples(st.timedeltas(timedelta(0), timedelta(days=2)), st.booleans()), max_size=4
)


@settings(max_examples=10)
@given(
    chosen=st.lists(grids, min_size=1, max_size=4),
    start=starts,
    legs=legs,
)
def test_every_slot_runs_once_and_on_time(
    chosen: list[Grid], start: datetime, legs: list[tuple[timedelta, bool]]
) -> None:
    app = Sempre("memory://")
    for number, grid in enumerate(chosen):
        app.add(f"job-{number}", grid, lambda: None)
    with app.testing(start) as t:
        for leg, loses in legs:
            t.travel(leg)
            if loses:
                t.lose_broker()
        t.travel(SWEEP)

        for number, grid in enumerate(chosen):
            rows = t.executions(f"job-{number}")
            slots = [row.run_at for row in rows]
            assert slots == grid.between(start, t.now)[: len(slots)]
            assert len(slots) >= len(grid.between(start, t.now - SWEEP))
            late = [row.started_at - row.due_at for row in rows if row.started_at]
            assert all(timedelta(0) <= each <= SWEEP for each in late)
            assert any(loses for _, loses in legs) or not any(late)
