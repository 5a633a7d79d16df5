"""One execution of the store as users operate it: each verb is one commit, and is logged."""

from collections.abc import Iterable

from sempre.app.executions.bulk_verbs import Answer, cancel_all, discard_all, retry_all
from sempre.domain.execution import Execution
from sempre.engine.core import Engine
from sempre.errors import NotFound, Refused
from sempre.ports.messages import Attempt

__all__ = ["StoredExecution"]


class StoredExecution:
    """One execution of the store, by id. Each property reads the store; nothing is cached."""

    def __init__(self, engine: Engine, identity: str, *, actor: str = "") -> None:
        """Name an execution; each verb raises NotFound if it does not exist."""
        self._engine = engine
        self._actor = actor
        self.id = identity

    def __repr__(self) -> str:
        """Show the id; the store is not read."""
        return f"<StoredExecution {self.id}>"

    @property
    def row(self) -> Execution:
        """The row of the execution as it is now; NotFound if there is none of that id."""
        found = self._engine.read_one(self._engine.store.candidates([self.id]))
        if found is None:
            raise NotFound("execution", self.id)
        return found.execution

    @property
    def attempts(self) -> list[Attempt]:
        """Every attempt, lost ones and late results included, in order."""
        return self._engine.read(self._engine.store.attempts(self.id))

    def retry(self, *, why: str = "") -> None:
        """Run an execution again that failed, or was missed, skipped or cancelled.

        It keeps its id, slot and key, and its retries are counted anew.

        Raises:
            Refused: it has not ended, has succeeded, or its schedule is disabled or paused; or
                another execution holds its unique key.
        """
        self._act(retry_all(self._engine, [self.id], actor=self._actor, why=why))

    def discard(self, *, why: str = "") -> None:
        """Take a failed execution off the list of failures; it stays on record as cancelled.

        Raises:
            Refused: it has not failed.
        """
        self._act(discard_all(self._engine, [self.id], actor=self._actor, why=why))

    def cancel(self, *, why: str = "") -> None:
        """Cancel the execution, or ask its worker to end it if it runs.

        Raises:
            Refused: it has ended, or is the next execution of a schedule: skip the slot instead.
        """
        self._act(cancel_all(self._engine, [self.id], actor=self._actor, why=why))

    def _act(self, answers: Iterable[Answer]) -> None:
        _ = self.row
        for answer in answers:
            if not answer.done:
                raise Refused(f"execution {self.id}: {answer.message}.")
