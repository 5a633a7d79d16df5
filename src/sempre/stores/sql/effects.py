"""Effects: the writes of a job and the end of its run, as one transaction."""

from sempre.domain.arguments import Json
from sempre.domain.states import State
from sempre.errors import TransactionError
from sempre.ports.messages import Settled, Success
from sempre.stores.sql import encoding
from sempre.stores.sql.dialects import JobTransaction
from sempre.stores.sql.settlements import settle

__all__ = ["SqlEffects"]

_LOST = (
    "the run has lost its lease or its time is over: nothing of the transaction of current().tx "
    "was kept."
)


class SqlEffects:
    """The transaction of the run of an execution, under a fence."""

    def __init__(self, apart: JobTransaction, execution_id: str, fence: int) -> None:
        """Take over a transaction that has begun."""
        self._apart = apart
        self._id = execution_id
        self._fence = fence
        self._is_released = False

    @property
    def connection(self) -> object:
        """The driver's own connection."""
        return self._apart.connection

    def keep(self, result: Json) -> None:
        """Record the success of the run, commit the success with the job's writes, and close."""
        try:
            self._settle(result)
            self._commit()
        finally:
            self.drop()

    def drop(self) -> None:
        """Roll back uncommitted writes, and close."""
        self._apart.close()

    def release(self) -> None:
        """Discard all writes from here on, though the job may still use the connection."""
        self._is_released = True
        self._apart.release()

    def _settle(self, result: Json) -> None:
        if self._is_released:
            raise TransactionError(_LOST)
        if not self._apart.is_open:
            raise TransactionError(
                "the job has ended the transaction of current().tx itself, so what it wrote is "
                "not bound to its end; leave COMMIT, ROLLBACK and whatever implies them to the "
                "worker."
            )
        try:
            settled = self._settled(result)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            raise TransactionError(
                f"the end of the run could not be written in the transaction of current().tx, of "
                f"which nothing was kept: {told}"
            ) from error
        if not settled:
            raise TransactionError(_LOST)

    def _settled(self, result: Json) -> bool:
        transaction = self._apart.transaction
        found = map(encoding.read_execution, transaction.rows("rows_by_id", ids=[self._id]))
        row = next(found, None)
        if row is None or (row.state, row.fence) != (State.RUNNING, self._fence):
            return False
        now = max(transaction.now, row.started_at or transaction.now)
        # The row is compared again under the lock.
        return settle(transaction, [Success(row, now, result)], row.session) == [Settled.DONE]

    def _commit(self) -> None:
        try:
            self._apart.commit()
        except Exception as error:
            raise TransactionError(
                "the commit of current().tx was not acknowledged, so nobody knows yet whether it "
                f"was kept: {error}"
            ) from error
