"""Whatever a newer release writes into any table, every other schedule keeps its time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sempre.engine.events import Happened
from sempre.ports.messages import ExecutionQuery, View
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued
from tests.contract.spoiling import Strange, strange_rows
from tests.contract.test_unreadable_rows import Place, new_place, server

__all__ = ["server"]

EVERY = {"grid": "every", "interval": "1h"}
POLICIES = st.sampled_from(
    (
        {"colour": "blue"},
        {"overlap": "merge"},
        {"on_unknown": "ask"},
        {"retry": [1, 2]},
        {"retry": {"most": 3}},
        {"timeout": {"soft": 5}},
        {"priority": "high"},
        {"tags": "billing"},
        {"grid": {**EVERY, "timezone": "Mars/Base"}},
        {"grid": {**EVERY, "gap": "leap"}},
        {"grid": {**EVERY, "phase": 3}},
        {"grid": {"grid": "lunar"}},
        {"grid": "lunar"},
    )
)
# Any new field, with any value that JSON can have.
FIELDS = st.dictionaries(
    st.from_regex(r"new_[a-z]{1,8}", fullmatch=True),
    st.none() | st.booleans() | st.integers() | st.text("abc") | st.lists(st.integers()),
    min_size=1,
    max_size=2,
)
RULES = (POLICIES | FIELDS | st.sampled_from(("", "{", "null", "[]"))).map(lambda r: {"rules": r})
SCHEDULES = RULES
EXECUTIONS = RULES | st.sampled_from(({"kind": "canary"}, {"args": "{broken"}, {"args": "[1]"}))
# Nothing of a grid that this process cannot build is needed to run what was asked for by hand.
SPOILED = st.tuples(st.lists(SCHEDULES, max_size=3), st.lists(EXECUTIONS, max_size=3), RULES)


@given(spoiled=SPOILED, strange=st.booleans())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_other_schedule_keeps_its_time(
    server: tuple[str, Any],
    tmp_path: Path,
    spoiled: tuple[list[Any], list[Any], Any],
    *,
    strange: bool,
) -> None:
    with new_place(server, tmp_path) as place:
        shop = Workshop(place.store)
        shop.store = shop.bare
        fine = [shop.due(f"fine-{number}", priority=5000) for number in range(3)]
        work = enqueued(place.store, priority=5000)
        _spoil(shop, place, spoiled)
        if strange:
            about = Strange(fine[0].schedule.id, fine[0].rows[0].id)
            strange_rows(place.store, about, place.client)

        worker = shop.worker(hands=2)
        worker.heal()
        begun = {row.id for row in worker.work_off()}

        assert {view.rows[0].id for view in fine} | {work} <= begun
        [told] = [event.facts for event in worker.heard(Happened.PERFORMED)]
        assert (told["lock_acquired"], told["schedules_failed"]) == (True, 0)
        assert place.store.last_pass().value.finished_at is not None
        _look_at_everything(shop, fine)


def _spoil(shop: Workshop, place: Place, spoiled: tuple[list[Any], list[Any], Any]) -> None:
    schedules, executions, one_off = spoiled
    for number, fields in enumerate(schedules):
        _write(place, "schedules", shop.due(f"new-{number}").schedule.id, fields)
    for number, fields in enumerate(executions):
        _write(place, "executions", shop.due(f"row-{number}").rows[0].id, fields)
    _write(place, "executions", enqueued(place.store, priority=1), one_off)


def _write(place: Place, table: Any, identity: str, fields: Mapping[str, Any]) -> None:  # noqa: ANN401
    place.spoil(table, identity, **fields)


def _look_at_everything(shop: Workshop, fine: list[View]) -> None:
    store = shop.bare
    names = {each.name for each in shop.app().schedules}
    assert {view.schedule.name for view in fine} <= names
    store.executions(ExecutionQuery(limit=50))
    store.latest([view.schedule.id for view in fine], limit=5)
    store.sessions()
    store.switches()
    for view in fine:
        store.ranges(view.schedule.id, limit=5)
        store.rollups(view.schedule.id)
        store.attempts(view.rows[0].id)
        store.reports([view.rows[0].id])
        store.run_logs(view.rows[0].id)
