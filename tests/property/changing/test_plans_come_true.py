"""What a plan previews is what happens: slots that run, and executions that end."""

from datetime import timedelta
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from sempre import Sempre
from sempre.domain.states import Kind, State
from sempre.errors import NotFound, Refused
from sempre.grids.grid import Grid
from tests.property.changing.lives import BEGIN, NAME, change, dump, grids, options, planned

DAYS = 2
# A slot in the window may be due after it, by its jitter.
LONGEST_JITTER = timedelta(hours=1)
lives = st.sampled_from(["0s", "3m", "7h", "20h"])


def application(grid: Grid, policies: dict[str, Any]) -> Sempre:
    app = Sempre("memory://")

    @app.job
    def bill() -> None: ...

    app.add(NAME, grid, bill, **policies)
    return app


@settings(max_examples=150)
@given(grids(), options(), lives, st.lists(change, max_size=2), change)
def test_what_was_planned_happens(
    grid: Grid,
    policies: dict[str, Any],
    lived: str,
    earlier: list[tuple[str, dict[str, Any]]],
    last: tuple[str, dict[str, Any]],
) -> None:
    app = application(grid, policies)
    with app.testing(BEGIN) as t:
        for verb, given_ in earlier:
            t.travel("2h")
            try:
                app.apply(planned(app, verb, given_, days=DAYS))
            except (NotFound, Refused):
                continue
        t.travel(lived)
        before = dump(app)
        try:
            made = planned(app, *last, days=DAYS)
        except (NotFound, Refused):
            return

        assert dump(app) == before  # a plan changes nothing

        if not made.steps:
            return
        [step] = made.steps
        preview = step.preview
        assert preview is not None
        old, new = list(preview.before), list(preview.after)
        note(f"{preview.plan}")
        found = preview.difference
        assert sorted(set(new) - set(old)) == list(found.appearing.first)
        assert sorted(set(old) - set(new)) == list(found.vanishing.first)
        counts = (preview.before.count, found.appearing.count, found.vanishing.count)
        assert counts == (len(old), len(found.appearing.first), len(found.vanishing.first))

        [applied] = app.apply(made)

        assert applied.done
        assert applied.next_run_at == preview.schedule.next_run_at or preview.schedule.deleted
        rows = {row.id: row for row in t._journey.store.everything()}  # noqa: SLF001 - all rows
        for ended in (*preview.ended, *preview.replaced):
            assert rows[ended.after.id].state is ended.after.state
        started = {row.id for row in rows.values() if row.first_started_at}
        end = preview.window.stretch.until
        t.travel_to(end + LONGEST_JITTER)
        ran = [
            row.run_at
            for row in t._journey.store.everything()  # noqa: SLF001 - as above
            if row.kind is Kind.SCHEDULED and row.first_started_at and row.id not in started
        ]
        assert sorted(slot for slot in ran if slot <= end) == new


@settings(max_examples=100)
@given(grids(), options(), lives, change)
def test_slots_that_a_plan_keeps_run_without_the_plan_too(
    grid: Grid, policies: dict[str, Any], lived: str, first: tuple[str, dict[str, Any]]
) -> None:
    """The slots before a change are those that run if the change is not made."""
    app = application(grid, policies)
    with app.testing(BEGIN) as t:
        t.travel(lived)
        try:
            made = planned(app, *first, days=DAYS)
        except (NotFound, Refused):
            return
        if not made.steps:
            return
        preview = made.steps[0].preview
        assert preview is not None
        started = {row.id for row in t.executions()}
        t.travel_to(preview.window.stretch.until + LONGEST_JITTER)

        ran = [row.run_at for row in t.executions() if row.id not in started]
        end = preview.window.stretch.until
        assert sorted(slot for slot in ran if slot <= end) == list(preview.before)
        assert not t.executions(state=State.FAILED)
