"""Pages and pieces of work come in order, whether in turn or ahead."""

from datetime import UTC, datetime
from functools import partial
from threading import Event

import pytest

from sempre.engine.ahead import Line, pages
from sempre.errors import StoreUnavailable
from sempre.ports.messages import Page, Reading

NOW = datetime(2026, 11, 15, tzinfo=UTC)
AFTER = {"": "a", "a": "b", "b": ""}


def read(after: str) -> Reading[Page[str]]:
    return Reading(NOW, Page((f"after {after!r}",), AFTER[after]))


@pytest.mark.parametrize("ahead", [False, True])
def test_every_page_comes_once_and_in_order(ahead: bool) -> None:  # noqa: FBT001 - a parameter
    found = [reading.value.items for reading in pages(read, ahead=ahead)]

    assert found == [("after ''",), ("after 'a'",), ("after 'b'",)]


@pytest.mark.parametrize("ahead", [False, True])
def test_what_was_read_is_worked_on_before_an_error_comes_through(
    ahead: bool,  # noqa: FBT001 - a parameter
) -> None:
    def fail_later(after: str) -> Reading[Page[str]]:
        if after == "a":
            raise StoreUnavailable("the store is down.")
        return read(after)

    seen = []
    with pytest.raises(StoreUnavailable):
        seen += [reading.value.after for reading in pages(fail_later, ahead=ahead)]
    found = pages(fail_later, ahead=ahead)

    assert next(found).value.after == "a"


@pytest.mark.parametrize("ahead", [False, True])
def test_pieces_of_work_are_done_in_order_and_each_is_told_of_once(
    ahead: bool,  # noqa: FBT001 - a parameter
) -> None:
    order: list[int] = []
    told: list[int] = []

    def work(number: int) -> int:
        order.append(number)
        return number

    with Line[int]() as line:
        for number in range(20):
            told += line.hand_in(partial(work, number), ahead=ahead and number != 19)
        told += line.rest()

    assert order == told == list(range(20))


def test_after_a_piece_of_work_that_failed_none_is_begun() -> None:
    def fail() -> None:
        raise StoreUnavailable("the store is down.")

    begun = Event()
    with Line[None]() as line:
        line.hand_in(fail, ahead=True)
        with pytest.raises(StoreUnavailable):
            line.hand_in(begun.set, ahead=True)

    assert not begun.is_set()
