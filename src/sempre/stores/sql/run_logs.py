"""The logs of runs in an SQL database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Reading
from sempre.ports.run_logs import RunLog
from sempre.stores.sql.database import Database
from sempre.stores.sql.decoding import LeftOut, decoded
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import storable_text

__all__ = ["SqlRunLogs", "write_log"]


class SqlRunLogs(Database):
    """The operations of the port on the logs of runs."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        """Store the logs of runs of a session."""
        if logs:
            self._write(lambda transaction: _write(transaction, logs, session))

    def run_logs(self, execution_id: str) -> Reading[list[RunLog]]:
        """Return the logs of the runs of an execution, by fence."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[RunLog]:
            found = transaction.rows("logs_of", id=execution_id)
            return decoded("run_logs", found, _read, left_out)

        return self._read_rows(ask)


def _write(transaction: Transaction, logs: Sequence[RunLog], session: str) -> None:
    ids = sorted({each.execution_id for each in logs})
    found = transaction.rows("claims_of", ids=ids)
    claims = {identity: (fence, holder) for identity, fence, holder in found}
    at = transaction.now
    # One row for each run: a statement may not change a row twice. In order: two transactions that
    # lock rows in one order never wait for each other.
    rows = {
        (log.execution_id, log.fence): write_log(log, at)
        for log in logs
        if _is_accepted(log, session, claims)
    }
    if rows:
        transaction.many("write_log", [rows[each] for each in sorted(rows)])


def write_log(log: RunLog, at: datetime) -> dict[str, Any]:
    """Return the columns of a log that was written at an instant."""
    return {
        "execution_id": log.execution_id,
        "fence": log.fence,
        "written_at": microseconds_of(at),
        "log": storable_text(log.text),
    }


def _is_accepted(log: RunLog, session: str, claims: dict[str, tuple[int, str]]) -> bool:
    if log.execution_id not in claims:
        return False
    fence, holder = claims[log.execution_id]
    return log.is_from(session, fence=fence, holder=holder)


def _read(row: Sequence[Any]) -> RunLog:
    execution_id, fence, written_at, text = row
    return RunLog(execution_id, fence, text, instant_of(written_at))
