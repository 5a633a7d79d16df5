"""Whatever order the code of several owners starts in: a name has one owner, and never by turns."""

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.errors.owners import OwnedByAnother
from sempre.stores.memory import MemoryStore

NAMES = ("apples", "bread", "cheese")
OWNERS = ("shop", "bakery", None)


@dataclass(frozen=True)
class Start:
    """One start of the code of an owner, which may adopt what others have."""

    owner: str | None
    declares: frozenset[str]
    adopt: bool = False


starts = st.builds(
    Start, st.sampled_from(OWNERS), st.frozensets(st.sampled_from(NAMES)), st.booleans()
)


@dataclass
class Expected:
    """Who owns what, by the rule alone: no rows are looked at."""

    owners: dict[str, str | None] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def taken(self, start: Start) -> dict[str, str | None]:
        """Return what others own of what a start declares and does not adopt."""
        free = (None, start.owner)
        declared = {} if start.adopt else {name: self.owners.get(name) for name in start.declares}
        return {
            name: owner
            for name, owner in declared.items()
            if owner not in free and name not in self.dropped
        }

    def accept(self, start: Start) -> None:
        self.owners |= dict.fromkeys(start.declares, start.owner)
        self.dropped -= start.declares
        if start.owner is not None:
            mine = {name for name, owner in self.owners.items() if owner == start.owner}
            self.dropped |= mine - start.declares


def play(store: MemoryStore, start: Start) -> dict[str, str | None]:
    """Let code start; return the names that were refused, with their owners."""
    app = Sempre(store, broker=StoreBroker(), owner=start.owner, adopt=start.adopt)
    for name in sorted(start.declares):
        app.add(name, Every("1h"), work)
    try:
        app.sync()
    except OwnedByAnother as refused:
        return dict(refused.taken)
    return {}


def work() -> None:
    """Stand for the user's function."""


@given(st.lists(starts, min_size=1, max_size=12))
@example([Start("shop", frozenset(NAMES)), Start("bakery", frozenset(NAMES))] * 3)
def test_a_name_changes_its_owner_only_if_it_is_free_or_adopted(steps: list[Start]) -> None:
    store, expected = MemoryStore(), Expected()
    for step in steps:
        taken = expected.taken(step)

        assert play(store, step) == taken

        if not taken:
            expected.accept(step)
        found = {view.schedule.name: view.schedule for view in store.views(NAMES).value}
        assert {name: row.definition.owner for name, row in found.items()} == expected.owners
        disabled = {name for name, row in found.items() if not row.definition.enabled}
        assert disabled == expected.dropped
