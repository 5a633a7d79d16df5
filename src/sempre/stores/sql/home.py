"""Home: the database that a worker of this process works on, which may be replaced by another one.

A file of SQLite can be exchanged for an older copy of itself under running workers. That copy has
the same identity and may know their sessions, but gives out fences that were given out before. So
whoever works for a session is stopped until the worker has begun anew. Whoever only enqueues, or
reads, goes on with the file that is there. A server is always the same one.
"""

from sempre.errors import StoreGone

__all__ = ["Home"]

REPLACED = "its file was removed or replaced by another one; workers begin anew on what is there"


class Home:
    """Where the store was when it was last set up, by what a transaction says of its place."""

    def __init__(self) -> None:
        """Be wherever the first transaction is."""
        self._place: object = None
        self._is_told = False

    def move(self, place: object) -> None:
        """Be at home in a place: the store there was set up, and knows what came before."""
        self._place, self._is_told = place, False

    def check(self, place: object, *, tells: bool = False) -> None:
        """Raise StoreGone in any other place, every time; a heart tells its worker of that."""
        if self._place is None:
            self._place = place
        if self._place != place:
            self._is_told = self._is_told or tells
            raise StoreGone(f"the store is gone: {REPLACED}.")

    def check_in(self, place: object) -> None:
        """Raise StoreGone in another place, once: then it is the home of a heart that was told.

        The worker that it beats for sets the store up, which may be in another process.
        """
        if self._is_told:
            self.move(place)
        self.check(place, tells=True)
