"""What makes a row unreadable."""

from collections.abc import Callable
from typing import Protocol

from sempre.domain.unreadable import Table

__all__ = ["Spoil"]


class Spoil(Protocol):
    """Writes a row as a newer release would."""

    def __call__(self, table: Table, identity: str) -> Callable[[], None]:
        """Let this process be unable to read a row; return what undoes that."""
        ...
