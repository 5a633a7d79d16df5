"""Connections of the caller: of SQLAlchemy, of Django, and of the drivers themselves.

Each is recognised by its class, if the library is imported: an object of a library that the user
has not imported cannot exist. So this module imports none of them.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from sempre.errors import TransactionError

__all__ = ["CallerTransaction", "is_a", "is_django", "ring_or_log", "transaction_of"]

logger = logging.getLogger("sempre")
Ring = Callable[[], None]
_TAKEN = (
    "a SQLAlchemy Session or Connection, a psycopg, sqlite3 or PyMySQL connection, or inside "
    "atomic() a connection of Django or its alias, as in tx='default'"
)
# Keys in `info` of SQLAlchemy's connections: the rings to make, and those of a commit under way.
_RINGS = "sempre rings"
_COMMITTING = "sempre commits"
_WRAPPER = ("django.db.backends.base.base", "BaseDatabaseWrapper")


class CallerTransaction(Protocol):
    """A transaction that the caller has begun and will end."""

    @property
    def connection(self) -> object:
        """The driver's own connection, for `Transactional.enqueue_within`."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether no hook reports the commit."""
        ...

    def after_commit(self, ring: Ring) -> None:
        """Ring after the commit, if a hook reports it.

        An error of the ring is logged, not raised: the rows are committed.
        """
        ...


def transaction_of(tx: Any) -> CallerTransaction:  # noqa: ANN401 - of libraries not imported
    """Return the transaction of a caller's connection; SQLAlchemy's is begun if it was not.

    Raises:
        TransactionError: `tx` is of an unknown kind, or Django's outside of `atomic()`.
    """
    if is_a(tx, "sqlalchemy.orm", "scoped_session"):
        tx = tx()
    if is_a(tx, "sqlalchemy.orm", "Session"):
        return _OfSession(_driver_of(tx.connection()), tx)
    if is_a(tx, "sqlalchemy.engine", "Connection"):
        if not tx.in_transaction():
            # SQLAlchemy begins one only for statements that go through its own connection.
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
    """Return whether a value is of a class, without importing the module of the class."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_django(value: object) -> bool:
    """Return whether a value is a connection of Django, or an alias."""
    return (
        isinstance(value, str)
        or is_a(value, *_WRAPPER)
        or is_a(value, "django.utils.connection", "ConnectionProxy")
    )


def ring_or_log(ring: Ring) -> None:
    """Ring, and log an error instead of raising it: the caller's commit has succeeded."""
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
    """A connection of a driver, which reports no commit: the sweep finds the row."""

    connection: object
    is_silent: bool = True

    def after_commit(self, ring: Ring) -> None:
        """Do nothing: no hook reports the commit."""


class _OfSession(NamedTuple):
    """The transaction of a SQLAlchemy Session."""

    connection: object
    session: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring when the session commits; neither for a savepoint nor after a rollback."""
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
    # After a rollback to a savepoint, work that was enqueued before it may still commit.
    if not session.in_nested_transaction():
        _OF_SESSIONS.get(session, []).clear()


class _OfConnection(NamedTuple):
    """The transaction of a SQLAlchemy Connection.

    SQLAlchemy's event `commit` comes before the commit. So the bell rings at what follows: the
    connection goes back to its pool, or begins another transaction.
    """

    connection: object
    owner: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring after the next commit, once the connection is closed or used again."""
        listen = sys.modules["sqlalchemy"].event.listen
        # SQLAlchemy adds a listener once.
        listen(self.owner, "commit", _connection_commits)
        listen(self.owner, "rollback", _connection_rolled_back)
        listen(self.owner, "begin", _connection_begins)
        listen(self.owner.engine.pool, "checkin", _connection_given_back)
        self.owner.info.setdefault(_RINGS, []).append(ring)


def _connection_commits(connection: Any) -> None:  # noqa: ANN401
    connection.info[_COMMITTING] = connection.info.pop(_RINGS, [])


def _connection_rolled_back(connection: Any) -> None:  # noqa: ANN401
    # A commit that fails is rolled back: its rings go too.
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
        ring_or_log(ring)


def _driver_of(connection: Any) -> object:  # noqa: ANN401
    found: object = connection.connection.dbapi_connection
    return found


class _OfDjango(NamedTuple):
    """The transaction of Django's outermost atomic() block."""

    connection: object
    wrapper: Any
    is_silent: bool = False

    def after_commit(self, ring: Ring) -> None:
        """Ring after the outermost block; never if it, or the savepoint around, rolls back."""
        self.wrapper.on_commit(lambda: ring_or_log(ring))


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
