"""Work that is put in through a caller's transaction, as far as that is another thing."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sempre.errors import NotSameDatabase, StoreUnavailable
from sempre.ports.messages import Enqueued, Work
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.enqueuing import enqueue
from sempre.stores.sql.switches import Stops, switches_in_force

__all__ = ["enqueue_within"]

logger = logging.getLogger("sempre")


def enqueue_within(
    dialect: Dialect, connection: object, works: Collection[Work], uuid: str
) -> list[Enqueued]:
    """Put work in through a caller's transaction, after its connection was proven to lead here."""
    with dialect.callers.joined(connection) as transaction:
        _prove_same(dialect, connection, transaction, uuid)
        return enqueue(_Joined(transaction, dialect), works, _stops(transaction))


def _prove_same(dialect: Dialect, connection: object, transaction: Transaction, uuid: str) -> None:
    """Raise NotSameDatabase unless the connection sees this very store.

    The table is looked for first: in PostgreSQL its absence would end the caller's transaction.
    """
    found = transaction.rows("read_meta") if dialect.has_meta(transaction) else []
    if [row[1] for row in found] != [uuid]:
        place = dialect.callers.place_of(connection)
        told = f"{place} (another store)" if found else place
        raise NotSameDatabase(store=dialect.callers.place, found=told)


def _stops(transaction: Transaction) -> Stops:
    """Return the switches that reject, as the caller sees them.

    They are not locked: nobody could turn one until the caller commits. So none may hold the row:
    it could be turned on before the row is seen, and would never free it. What is stopped and not
    held is not started either.
    """
    switches = switches_in_force(transaction)
    return Stops(tuple(switch for switch in switches if not switch.holds))


class _Joined:
    """A caller's transaction, which may read what others have changed since.

    Who has a unique key must not be read so. Its row is locked through the caller's connection,
    from then on nobody adds to it, and who has it is read through another one. Only then: where
    connections are few, callers that have one each must not wait for a second.
    """

    def __init__(self, inner: Transaction, dialect: Dialect) -> None:
        self._inner = inner
        self._dialect = dialect

    @property
    def place(self) -> object:
        """Which database it is on."""
        return self._inner.place

    @property
    def now(self) -> datetime:
        """The store's now."""
        return self._inner.now

    def send(self, name: str, /) -> None:
        """Let a statement run before the next one."""
        self._inner.send(name)

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows."""
        found = self._inner.rows(name, **parameters)
        if name != "keyed_rows" or not self._dialect.callers.may_read_the_past(self._inner):
            return found
        return self._with_newer(found, parameters)

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed."""
        if name == "count_rejections" and not self._dialect.callers.are_alone:
            return self._count(name, parameters)
        return self._inner.run(name, **parameters)

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each of many rows."""
        self._inner.many(name, rows)

    def script(self, text: str) -> None:
        """Run the statements of a migration."""
        self._inner.script(text)

    def _count(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Count at once: whoever counts next would wait for the caller's commit."""
        try:
            return self._dialect.write(lambda own: own.run(name, **parameters))
        except StoreUnavailable as error:
            # The caller was told of the rejection, which matters more.
            logger.warning("what a switch has rejected was not counted: %s", error)
            return 0

    def _with_newer(
        self, found: list[Sequence[Any]], parameters: Mapping[str, Any]
    ) -> list[Sequence[Any]]:
        """Return what is committed, and then what only this transaction has put in."""

        def ask(latest: Transaction) -> tuple[list[Sequence[Any]], set[Any]]:
            committed = latest.rows("keyed_rows", **parameters)
            known = {row[1] for row in committed}
            ids = sorted({row[1] for row in found} - known)
            ended = latest.rows("known_executions", ids=ids) if ids else []
            return committed, known | {row[0] for row in ended}

        committed, known = self._dialect.read(ask)
        return [*committed, *(row for row in found if row[1] not in known)]
