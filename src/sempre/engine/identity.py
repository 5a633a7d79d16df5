"""Identity: the store in which the code's schedules are declared; a new store needs them again.

A person may empty a store under its workers, delete its file or drop its tables, and perhaps set it
up again. The rows are gone, but the schedules that the code declares can be created again.
"""

from collections.abc import Callable

from sempre.engine.core import Engine
from sempre.engine.events import Happened

__all__ = ["Identity"]

Restore = Callable[[int], object]


class Identity:
    """The store of one worker, by its identity.

    Attributes:
        in_doubt: whether an operation found the store, or a part of it, gone.
        restore: sets the store up again, so that fences go on above the given one, and creates the
            schedules that the code declares.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin with the store as it is, with the schedules that the code declares."""
        self._engine = engine
        self._uuid = engine.store.uuid
        self._is_reported = False
        self.in_doubt = False
        self.restore: Restore = self._upgrade

    def is_lost(self, found: str) -> bool:
        """Return whether a store of this identity, or of none, is another one."""
        return found != self._uuid

    def renew(self, found: str, *, fence: int) -> None:
        """Set up a store in place of the one that is gone, and create the declared schedules.

        Raises:
            StoreError: the store cannot be set up now; the next try emits no further event.
        """
        if not self._is_reported:
            self._is_reported = True
            facts = {"store": self._uuid, "found": found}
            self._engine.events.emit(Happened.STORE_REPLACED, **facts)
        self.restore(fence)
        self._uuid, self._is_reported, self.in_doubt = self._engine.store.uuid, False, False

    def _upgrade(self, fence: int) -> None:
        self._engine.store.upgrade(fence=fence)
