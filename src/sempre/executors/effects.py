"""The transaction of one run: begins when the job asks for `tx`, and ends with the run."""

from collections.abc import Callable
from threading import Lock
from typing import Any

from sempre.domain.arguments import Json
from sempre.errors import TransactionError
from sempre.ports.transactional import Effects

__all__ = ["Opener", "RunEffects"]

Opener = Callable[[str, int], Effects]
"""Begins the transaction of a run, given the id of its execution and its fence."""


class RunEffects:
    """The transaction in which the job of a run may write beside the record of its success."""

    # Every run has such an object, and few runs use it.
    __slots__ = ("_effects", "_is_over", "_lock", "_opener", "_rings", "_run")

    def __init__(self, opener: Opener | None, execution_id: str, fence: int) -> None:
        """Prepare the object; the first use of `tx` opens the transaction."""
        self._opener = opener
        self._run = execution_id, fence
        self._lock = Lock()
        self._effects: Effects | None = None
        self._is_over = False
        self._rings: tuple[Callable[[], None], ...] = ()

    @property
    def connection(self) -> Any:  # noqa: ANN401 - of whichever driver the store has
        """The connection of the transaction, which begins with the first call.

        Raises:
            TransactionError: no worker runs the job, or the run is over.
            StoreUnavailable: the database cannot be reached.
        """
        if self._opener is None:
            raise TransactionError(
                "current().tx exists only in a job that a worker runs; in a test, give the job its "
                "connection in another way."
            )
        with self._lock:
            if self._effects is None and not self._is_over:
                self._effects = self._opener(*self._run)
            effects = self._effects
        if effects is None or self._is_over:
            self.drop()
            raise TransactionError("the run is over, and so is the transaction of current().tx.")
        return effects.connection

    def is_of(self, connection: object) -> bool:
        """Return whether a connection is that of the run."""
        return self._effects is not None and self._effects.connection is connection

    def after_commit(self, ring: Callable[[], None]) -> None:
        """Call a function that never raises after the transaction of the run is committed."""
        self._rings = (*self._rings, ring)

    def keep(self, result: Json) -> None:
        """Commit the transaction with the success of the run, if the job has asked for one.

        Raises:
            TransactionError: the commit is not possible, as `Effects.keep` says, or the time of the
                run was over before.
        """
        if self._effects is None:
            self._is_over = True
            return
        if self._is_over:
            raise TransactionError(
                "the time of the run was over before it ended: the transaction of "
                "current().tx was not committed."
            )
        self._effects.keep(result)
        self._is_over = True
        for ring in self._rings:
            ring()

    def drop(self) -> None:
        """Roll the transaction back; never raises."""
        self._is_over = True
        if self._effects is not None:
            self._effects.drop()

    def release(self) -> None:
        """Roll back the transaction of a run whose job goes on; from any thread."""
        self._is_over = True
        if self._effects is not None:
            self._effects.release()
