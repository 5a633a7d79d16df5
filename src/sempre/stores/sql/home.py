"""The home of a worker: the database that the worker began with, which may be replaced.

An SQLite file can be replaced by an older copy of itself under running workers. The copy has the
identity of the original and may know the workers' sessions, but it hands out fences a second time.
So work for a session is refused until the worker has a new session. Work without a session, such as
enqueuing or reading, goes on with the file at the path. A server is never replaced.
"""

from sempre.errors import StoreGone

__all__ = ["Home"]

REPLACED = "its file was removed or replaced by another one; workers begin anew on what is there"


class Home:
    """The place of the store when it was last set up: see `Transaction.place`."""

    def __init__(self) -> None:
        """Take the place of the first transaction."""
        self._place: object = None
        self._is_reported = False

    def move(self, place: object) -> None:
        """Take a place: the store there was set up, with the fences of the place before."""
        self._place, self._is_reported = place, False

    def check(self, place: object, *, by_heartbeat: bool = False) -> None:
        """Raise StoreGone in any other place, every time; a heartbeat reports the error."""
        if self._place is None:
            self._place = place
        if self._place != place:
            self._is_reported = self._is_reported or by_heartbeat
            raise StoreGone(f"the store is gone: {REPLACED}.")

    def check_in(self, place: object) -> None:
        """Raise StoreGone in another place until a heartbeat has reported the error; then move.

        The worker of that heartbeat, which may be another process, sets the store up anew.
        """
        if self._is_reported:
            self.move(place)
        self.check(place, by_heartbeat=True)
