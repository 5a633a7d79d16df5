"""Pages come in order, whether they are read in turn or ahead."""

from datetime import UTC, datetime

import pytest

from sempre.engine.page_prefetch import pages
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
