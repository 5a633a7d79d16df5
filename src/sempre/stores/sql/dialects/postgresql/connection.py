"""A connection to PostgreSQL that does not wait for ever, and which servers are good enough.

The driver has no limit for an answer: of a server that vanished without a word it would never
tell. Waiting is counted in the driver's own pauses, so no clock is read here.
"""

from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready

from sempre.errors import StoreRefused
from sempre.stores.sql.dialects.postgresql.address import ENCODING
from sempre.stores.sql.dialects.promises import weaker

__all__ = ["Connection", "Unanswered", "check_server"]

T = TypeVar("T")
PAUSE = 0.1


class Unanswered(psycopg.OperationalError):
    """The server said nothing for too long; nobody knows whether it did what it was asked."""


class Connection(psycopg.Connection[Any]):
    """A connection that is given up when the server does not answer.

    Attributes:
        answer_after: for how many seconds an answer is waited for.
        is_examined: whether its server was looked at.
        is_direct: whether it leads to one server, which keeps what it is told.
        era: how often connections had been found lost or silent when it was opened.
        planned_at: from when the oldest plans are that the server may have kept for it.
        began_at: when its transaction began.
        was_slow: whether a transaction with these plans took longer than a short one does.
    """

    answer_after = 10.0
    is_examined = False
    is_direct = False
    era = 0
    planned_at = 0.0
    began_at = 0.0
    was_slow = False

    def wait(self, gen: PQGen[T], interval: float = PAUSE, timeout: float | None = None) -> T:
        """Run what the driver wants to be run; close the connection if no answer comes.

        Also if whoever waits is interrupted: nobody knows what is still to come then, and the
        driver would tell of that, not of the interruption.
        """
        patience = self.answer_after if timeout is None else timeout
        try:
            return super().wait(_within(gen, int(patience / interval) + 1, patience), interval)
        except BaseException as error:
            if isinstance(error, Unanswered) or not isinstance(error, psycopg.Error):
                self.close()
            raise


def _within(gen: PQGen[T], pauses: int, patience: float) -> Generator[Any, Any, T]:
    """Pass a conversation on until it ends, or has had too many pauses."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            pauses -= ready == Ready.NONE
            if pauses < 0:
                raise Unanswered(f"no answer within {patience:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        answer: T = end.value
        return answer


def check_server(
    found: Sequence[Any], place: str, *, any_flush: bool, read_only: bool
) -> tuple[str, ...]:
    """Return what a server promises less than others, a sentence each.

    Args:
        found: the row of the statement `server_settings`.
        place: where the database is.
        any_flush: accept a server that does not wait for the disk.
        read_only: accept a server that is read-only.

    Raises:
        StoreRefused: it cannot keep what the store promises, and nobody has accepted that.
    """
    encoding, is_standby, is_read_only, *written = found
    if encoding != ENCODING:
        raise StoreRefused(
            f"{place} cannot be used: its encoding is {encoding}, which cannot hold every text. "
            "Use another database: CREATE DATABASE jobs ENCODING 'UTF8' TEMPLATE template0."
        )
    told: list[str] = []
    if is_standby or is_read_only == "on":
        why = "a standby" if is_standby else "default_transaction_read_only = on"
        told += weaker(
            place,
            f"it is read-only ({why}), so that nothing can be started from it",
            remedy="Connect to the primary server",
            keyword="read_only",
            accepted=read_only,
        )
    for name, value in zip(("fsync", "full_page_writes"), written, strict=True):
        if value != "on":
            told += weaker(
                place,
                f"its {name} is {value}: after a loss of power what was acknowledged may be gone, "
                "and the database damaged",
                remedy=f"ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf()",
                keyword="any_flush",
                accepted=any_flush,
            )
    return tuple(told)
