"""Identity: which store a worker has told what its code declares; another one it tells anew.

Somebody may empty a store under its workers, delete its file or drop its tables, and perhaps set
it up again. Whatever it held is gone. What the code declares is not.
"""

from collections.abc import Callable

from sempre.engine.core import Engine
from sempre.engine.events import Happened

__all__ = ["Identity"]

Restore = Callable[[int], object]


class Identity:
    """The store of one worker, by its identity.

    Attributes:
        in_doubt: whether an operation has met a store that is gone, or a part of it.
        restore: sets the store up again, so that fences go on above the given one, and declares
            what the code declares.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin with the store as it is, which knows what the code declares."""
        self._engine = engine
        self._uuid = engine.store.uuid
        self._is_told = False
        self.in_doubt = False
        self.restore: Restore = self._upgrade

    def is_lost(self, found: str) -> bool:
        """Tell whether a store of this identity, or of none, is another one."""
        return found != self._uuid

    def renew(self, found: str, *, fence: int) -> None:
        """Make a store in place of the one that is gone, or tell the one that is there.

        Raises:
            StoreError: it cannot be set up now; the next try tells nothing more.
        """
        if not self._is_told:
            self._is_told = True
            facts = {"store": self._uuid, "found": found}
            self._engine.events.emit(Happened.STORE_REPLACED, **facts)
        self.restore(fence)
        self._uuid, self._is_told, self.in_doubt = self._engine.store.uuid, False, False

    def _upgrade(self, fence: int) -> None:
        self._engine.store.upgrade(fence=fence)
