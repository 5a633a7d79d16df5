"""The key of a page of history: the last execution of the page before, as a text for callers."""

from datetime import UTC, datetime
from typing import NamedTuple

from sempre.errors import InstantError

__all__ = ["PageKey"]


class PageKey(NamedTuple):
    """The place of an execution in the history: newer slots sort higher, then higher ids."""

    run_at: datetime
    id: str

    def __str__(self) -> str:
        """Return the `after` of a page that ends with this execution."""
        return f"{self.run_at.isoformat()} {self.id}"

    @classmethod
    def read(cls, text: str) -> "PageKey":
        """Return the key of an `after`.

        Raises:
            InstantError: the text is no `after` of an earlier page.
        """
        at, _, identity = text.partition(" ")
        try:
            return cls(datetime.fromisoformat(at).astimezone(UTC), identity)
        except ValueError:
            raise InstantError("after", text, allowed="the `after` of an earlier page") from None
