"""Transactions as others know them: of SQLAlchemy, of Django, and of the drivers themselves.

Nothing is imported that the user has not imported: whose object it is cannot be recognised by
code that nobody has loaded, but then it cannot be theirs either.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from sempre.errors import TransactionError

__all__ = ["CallerTransaction", "foreign_transaction", "is_a", "is_django", "rung"]

logger = logging.getLogger("sempre")
Ring = Callable[[], None]
_TAKEN = (
    "a SQLAlchemy Session or Connection, a psycopg, sqlite3 or PyMySQL connection, or inside "
    "atomic() a connection of Django or its alias, as in tx='default'"
)
# What the connections of SQLAlchemy's pools carry for us.
_RINGS = "sempre rings"
_COMMITTING = "sempre commits"
_WRAPPER = ("django.db.backends.base.base", "BaseDatabaseWrapper")


class CallerTransaction(Protocol):
    """A transaction that somebody else has begun and will end."""

    @property
    def connection(self) -> object:
        """The driver's own connection, for `Transactional.enqueue_within`."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether nothing says when the transaction commits."""
        ...

    def after_commit(self, ring: Ring) -> None:
        """Call something once the transaction has committed, if anything says when that is.

        What it raises is logged: the rows are committed whatever becomes of the bell.
        """
        ...


def foreign_transaction(tx: Any) -> CallerTransaction:  # noqa: ANN401 - of libraries not imported
    """Return what the user gave as a transaction; SQLAlchemy's is begun if it was not.

    Raises:
        TransactionError: it is nothing that can be joined.
    """
    if is_a(tx, "sqlalchemy.orm", "scoped_session"):
        tx = tx()
    if is_a(tx, "sqlalchemy.orm", "Session"):
        return _OfSession(_driver_of(tx.connection()), tx)
    if is_a(tx, "sqlalchemy.engine", "Connection"):
        if not tx.in_transaction():
            # It begins one by itself only for statements that go through it.
            tx.begin()
        return _OfConnection(_driver_of(tx), tx)
    if is_django(tx):
        return _of_django(tx)
    if any(is_a(tx, *driver) for driver in _DRIVERS):
        return _Raw(tx)
    kind = f"{type(tx).__module__}.{type(tx).__qualname__}"
    again = " Connections for asyncio are not among them." if "async" in kind.lower() else ""
    raise TransactionError(f"tx= takes {_TAKEN}; it was given a {kind}.{again}")


def is_a(value: object, module: str, name: str) -> bool:
    """Tell whether something is of a class, without importing what defines it."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_django(value: object) -> bool:
    """Tell whether something is a connection of Django, or an alias."""
    return (
        isinstance(value, str)
        or is_a(value, *_WRAPPER)
        or is_a(value, "django.utils.connection", "ConnectionProxy")
    )


def rung(ring: Ring) -> None:
    """Ring, and only log what is raised: the caller's commit has succeeded and must not fail."""
    try:
        ring()
    except Exception:
        logger.exception("the broker was not told of committed work; the sweep finds it")


_DRIVERS = (
    ("sqlite3", "Connection"),
    ("psycopg", "Connection"),
    ("pymysql.connections", "Connection"),
)


class _Raw(NamedTuple):
    """A connection of a driver, which does not say when it has committed: the sweep finds it."""

    connection: object
    is_silent: bool = True

    def after_commit(self, ring: Ring) -> None:
        """Nobody will say."""


class _OfSession(NamedTuple):
    """The transaction of a SQLAlchemy Session."""

    connection: object
    session: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring when the session has committed; not for a savepoint, and not if it rolls back."""
        if self.session not in _OF_SESSIONS:
            listen = sys.modules["sqlalchemy"].event.listen
            listen(self.session, "after_commit", _session_committed)
            listen(self.session, "after_rollback", _session_rolled_back)
        _OF_SESSIONS.setdefault(self.session, []).append(ring)


_OF_SESSIONS: "WeakKeyDictionary[Any, list[Ring]]" = WeakKeyDictionary()


def _session_committed(session: Any) -> None:  # noqa: ANN401
    if not session.in_nested_transaction():
        _ring_all(_OF_SESSIONS.get(session, []))


def _session_rolled_back(session: Any) -> None:  # noqa: ANN401
    # Back to a savepoint, what was put in before it is still to be committed.
    if not session.in_nested_transaction():
        _OF_SESSIONS.get(session, []).clear()


class _OfConnection(NamedTuple):
    """The transaction of a SQLAlchemy Connection.

    Its event of a commit comes before the commit. So the bell is rung by what comes after: the
    connection is given back to its pool, or begins another transaction.
    """

    connection: object
    owner: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring after the next commit, as soon as the connection is closed or used again."""
        listen = sys.modules["sqlalchemy"].event.listen
        # Those that listen already are not added twice.
        listen(self.owner, "commit", _connection_commits)
        listen(self.owner, "rollback", _connection_rolled_back)
        listen(self.owner, "begin", _connection_begins)
        listen(self.owner.engine.pool, "checkin", _connection_given_back)
        self.owner.info.setdefault(_RINGS, []).append(ring)


def _connection_commits(connection: Any) -> None:  # noqa: ANN401
    connection.info[_COMMITTING] = connection.info.pop(_RINGS, [])


def _connection_rolled_back(connection: Any) -> None:  # noqa: ANN401
    # Also what was to be committed, as a commit that fails is rolled back.
    connection.info.pop(_RINGS, None)
    connection.info.pop(_COMMITTING, None)


def _connection_begins(connection: Any) -> None:  # noqa: ANN401
    _ring_all(connection.info.get(_COMMITTING, []))


def _connection_given_back(_connection: object, record: Any) -> None:  # noqa: ANN401
    record.info.pop(_RINGS, None)
    _ring_all(record.info.get(_COMMITTING, []))


def _ring_all(rings: list[Ring]) -> None:
    waiting = rings.copy()
    rings.clear()
    for ring in waiting:
        rung(ring)


def _driver_of(connection: Any) -> object:  # noqa: ANN401
    found: object = connection.connection.dbapi_connection
    return found


class _OfDjango(NamedTuple):
    """The transaction of Django's outermost atomic() block."""

    connection: object
    wrapper: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring after the outermost block; never, if it or the savepoint around this rolls back."""
        self.wrapper.on_commit(lambda: rung(ring))


def _of_django(tx: Any) -> CallerTransaction:  # noqa: ANN401
    django = sys.modules.get("django.db")
    if django is None:
        raise TransactionError(f"tx={tx!r} is an alias of Django, which is not imported.")
    alias = tx if isinstance(tx, str) else tx.alias
    if alias not in django.connections:
        raise TransactionError(f'Django has no database "{alias}"; see DATABASES in its settings.')
    wrapper = tx if is_a(tx, *_WRAPPER) else django.connections[alias]
    if not wrapper.in_atomic_block:
        raise TransactionError(
            f'Django is in no transaction of its database "{alias}"; enqueue within '
            "transaction.atomic(), or without tx=."
        )
    wrapper.ensure_connection()
    return _OfDjango(wrapper.connection, wrapper)
