"""Contracts of ids by prefix: people type the beginning of an id."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    draft_schedule,
    now_of,
    row_of,
)

FIRST = "0193abcd-0001-7000-8000-00000000000a"
SECOND = "0193abcd-0001-7001-8000-00000000000b"
THIRD = "0193abce-0002-7000-8000-00000000000c"


def _store_ids(store: Store) -> None:
    """Create an execution for each id, in another order than that of their slots."""
    schedule, now = draft_schedule(store), now_of(store)
    given = {"state": State.SUCCEEDED, "kind": Kind.MANUAL, "finished_at": now}
    rows = [
        row_of(View(schedule), now - number * MINUTE, **given, id=identity)
        for number, identity in enumerate([SECOND, THIRD, FIRST])
    ]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]


def test_ids_are_found_by_their_beginning_highest_first(store: Store) -> None:
    """A whole id finds one execution, a text that begins no id finds none."""
    _store_ids(store)

    assert store.execution_ids("0193abc", limit=10).value == [THIRD, SECOND, FIRST]
    assert store.execution_ids("0193abcd", limit=10).value == [SECOND, FIRST]
    assert store.execution_ids("0193abcd-0001-7000", limit=10).value == [FIRST]
    assert store.execution_ids(FIRST, limit=10).value == [FIRST]
    assert store.execution_ids(FIRST[:-1] + "9", limit=10).value == []
    assert store.execution_ids(f"{FIRST}0", limit=10).value == []
    for text in ("0193abcf", "ü", "%", "_", "0193_bcd", "0193ABCD"):
        assert store.execution_ids(text, limit=10).value == []


def test_the_limit_of_ids_is_kept(store: Store) -> None:
    """Where more ids match, any of them may be returned; two prove that the prefix is ambiguous."""
    _store_ids(store)

    found = store.execution_ids("0193", limit=2).value

    assert len(set(found)) == len(found) == len("ab")
    assert set(found) <= {FIRST, SECOND, THIRD}
    assert sorted(found, reverse=True) == found
