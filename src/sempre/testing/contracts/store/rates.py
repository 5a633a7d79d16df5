"""Contracts about rates: starts in a window that slides."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.limits import Concurrency, Rate
from sempre.ports.limits import Opened
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    claimed,
    now_of,
    read,
    session_of,
    succeed,
)
from sempre.testing.contracts.store.limit_builders import (
    claim_each,
    limited,
    opened,
    parked,
)
from sempre.testing.polling import eventually


def test_a_rate_parks_the_start_beyond_it_and_says_when_it_opens(store: Store) -> None:
    """It opens one period after its oldest start."""
    session, ids = session_of(store), limited(store, 3, limits=(Rate("2/h"),))
    before = now_of(store)
    begun = claim_each(store, ids, session)
    after = now_of(store)

    assert [row is not None for row in begun] == [True, True, False]
    row = read(store, ids[2])
    assert row.held_by == "limit:rate:job:mail"
    assert row.reason == "held by limit: 2 starts in 1h of mail"
    found = opened(store, ids[2])
    assert found.freed == ()
    opens_at = found.opens.get("rate:job:mail")
    assert opens_at is not None
    assert before + HOUR <= opens_at <= after + HOUR


def test_an_end_makes_no_room_under_a_rate(store: Store) -> None:
    """A rate counts starts, not runs."""
    session, ids = session_of(store), limited(store, 2, limits=(Rate("1/h"),))
    first, _ = claim_each(store, ids, session)
    assert first is not None

    succeed(store, first)

    assert opened(store, *ids).freed == ()


def test_a_rate_opens_when_its_oldest_start_is_as_old_as_the_period(store: Store) -> None:
    """The window slides; it is not a bucket that is emptied."""
    session, ids = session_of(store), limited(store, 3, limits=(Rate("1/s"),))
    claim_each(store, ids, session)
    opens = opened(store, *ids).opens["rate:job:mail"]

    def freed() -> bool:
        return bool(opened(store, *ids).freed)

    assert eventually(freed)

    row = read(store, ids[1])
    assert row.due_at >= opens
    claimed(store, ids[1], session)
    assert parked(store, ids) == [ids[2]]


def test_after_freed_rows_a_rate_opens_when_they_are_as_old_as_the_period(store: Store) -> None:
    """The next opening is known before the freed row starts."""
    session, ids = session_of(store), limited(store, 3, limits=(Rate("1/s"),))
    claim_each(store, ids, session)

    def open_with_freed() -> Opened | None:
        found = opened(store, *ids)
        return found if found.freed else None

    found = eventually(open_with_freed)

    [row] = found.freed
    assert found.opens["rate:job:mail"] == row.due_at + timedelta(seconds=1)


def test_both_limits_of_an_execution_hold(store: Store) -> None:
    """A row whose other limit is full waits for that limit."""
    session, limits = session_of(store), (Concurrency(1), Rate("2/h"))
    ids = limited(store, 4, limits=limits)

    first, *_ = claim_each(store, ids, session)
    assert first is not None
    succeed(store, first)
    assert [each.id for each in opened(store, *ids).freed] == [ids[1]]
    succeed(store, claimed(store, ids[1], session))

    found = opened(store, *ids)
    assert found.freed == ()
    assert {read(store, each).held_by for each in ids[2:]} == {"limit:rate:job:mail"}
    assert list(found.opens) == ["rate:job:mail"]
