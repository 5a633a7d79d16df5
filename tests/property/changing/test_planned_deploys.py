"""A planned deploy that is applied leaves the store as the start of a worker does."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.errors import NotFound
from sempre.errors.owners import OwnedByAnother
from sempre.stores.memory import MemoryStore
from tests.property.changing.lives import dump

NAMES = ("apples", "bread", "cheese")


class Still:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 15, 12, 0, 30, tzinfo=UTC)

    def elapsed(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Start:
    """One start of some code."""

    owner: str | None
    release: int
    declares: frozenset[str]
    every: str
    adopt: bool = False

    def app(self, store: MemoryStore) -> Sempre:
        settings = {"owner": self.owner, "release": self.release, "adopt": self.adopt}
        app = Sempre(store, broker=StoreBroker(), clock=Still(), **settings)  # type: ignore[arg-type]
        for name in sorted(self.declares):
            app.add(name, Every(self.every), work)
        return app


@dataclass(frozen=True)
class Verb:
    """One verb of an operator."""

    verb: str
    name: str


starts = st.builds(
    Start,
    st.sampled_from(["shop", "bakery", None]),
    st.integers(0, 2),
    st.frozensets(st.sampled_from(NAMES)),
    st.sampled_from(["1h", "2h"]),
    st.booleans(),
)
verbs = st.builds(
    Verb, st.sampled_from(["enable", "disable", "pause", "delete"]), st.sampled_from(NAMES)
)


def work() -> None:
    """Nothing."""


def states(store: MemoryStore) -> list[tuple[object, ...]]:
    """Return what is comparable of the schedules of two stores: ids are random."""
    app = Sempre(store, broker=StoreBroker(), clock=Still())
    return [
        (each.name, each.revision, each.definition, each.declared, each.next_run_at, each.started)
        for each in app.schedules
    ]


@settings(max_examples=200)
@given(st.lists(starts | verbs, min_size=1, max_size=8))
def test_a_planned_deploy_does_what_a_start_does(life: list[Start | Verb]) -> None:
    by_start, by_plan = MemoryStore(Still()), MemoryStore(Still())
    for event in life:
        if isinstance(event, Verb):
            for store in (by_start, by_plan):
                app = Sempre(store, broker=StoreBroker(), clock=Still())
                with suppress(NotFound):
                    getattr(app.schedule(event.name), event.verb)()
            continue
        app = event.app(by_plan)
        before = dump(app)
        try:
            made = app.plan.deploy()
        except OwnedByAnother:
            assert dump(app) == before
            for store in (by_start, by_plan):  # a refused start leaves a mark
                with pytest.raises(OwnedByAnother):
                    event.app(store).sync()
            continue
        assert dump(app) == before

        assert event.app(by_start).sync() == made.synced
        app.apply(made)

        assert states(by_start) == states(by_plan)
        assert not event.app(by_plan).plan.deploy().steps  # applied once, nothing is left
