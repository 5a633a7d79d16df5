"""A connection to PostgreSQL with a limit for each answer, and the check of a server.

The driver has no limit for an answer: it would wait for a vanished server for ever. Waiting is
counted in the driver's own pauses, so no clock is read here.
"""

from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready

from sempre.errors import StoreRefused
from sempre.stores.sql.dialects.postgresql.address import ENCODING
from sempre.stores.sql.dialects.weaker_promises import accept

__all__ = ["Connection", "Unanswered", "check_server"]

T = TypeVar("T")
PAUSE = 0.1


class Unanswered(psycopg.OperationalError):
    """The server did not answer in time; whether it ran the statement is unknown."""


class Connection(psycopg.Connection[Any]):
    """A connection that is given up when the server does not answer.

    Attributes:
        answer_after: how many seconds an answer may take.
        is_examined: whether its server was checked.
        is_direct: whether it leads to one server, without a pooler in between, so that settings and
            prepared statements last.
        generation: how many times connections had been found lost or silent when it was opened.
        planned_at: when the server last discarded the plans of this connection.
        began_at: when its transaction began.
        was_slow: whether a transaction with these plans took longer than a short one.
    """

    answer_after = 10.0
    is_examined = False
    is_direct = False
    generation = 0
    planned_at = 0.0
    began_at = 0.0
    was_slow = False

    def wait(self, gen: PQGen[T], interval: float = PAUSE, timeout: float | None = None) -> T:
        """Wait for the driver's exchange with the server; close the connection if no answer comes.

        An interruption closes the connection as well: the rest of the answer is unknown then, and
        the driver would report that in place of the interruption.
        """
        patience = self.answer_after if timeout is None else timeout
        try:
            return super().wait(_within(gen, int(patience / interval) + 1, patience), interval)
        except BaseException as error:
            if isinstance(error, Unanswered) or not isinstance(error, psycopg.Error):
                self.close()
            raise


def _within(gen: PQGen[T], pauses: int, patience: float) -> Generator[Any, Any, T]:
    """Pass an exchange on until it ends, or has had too many pauses."""
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
    """Return the promises that a server does not keep, a sentence each.

    Args:
        found: the row of the statement `server_settings`.
        place: the address of the database.
        any_flush: accept a server that does not wait for the disk.
        read_only: accept a server that is read-only.

    Raises:
        StoreRefused: the server breaks a promise of the store, and no option accepts that.
    """
    encoding, is_standby, is_read_only, *written = found
    if encoding != ENCODING:
        raise StoreRefused(
            f"{place} cannot be used: its encoding is {encoding}, which cannot hold every text. "
            "Use another database: CREATE DATABASE jobs ENCODING 'UTF8' TEMPLATE template0."
        )
    weaker: list[str] = []
    if is_standby or is_read_only == "on":
        why = "a standby" if is_standby else "default_transaction_read_only = on"
        weaker += accept(
            place,
            f"it is read-only ({why}), so that nothing can be started from it",
            remedy="Connect to the primary server",
            keyword="read_only",
            accepted=read_only,
        )
    for name, value in zip(("fsync", "full_page_writes"), written, strict=True):
        if value != "on":
            weaker += accept(
                place,
                f"its {name} is {value}: after a loss of power what was acknowledged may be gone, "
                "and the database damaged",
                remedy=f"ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf()",
                keyword="any_flush",
                accepted=any_flush,
            )
    return tuple(weaker)
