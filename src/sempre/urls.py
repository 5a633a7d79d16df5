"""Turns the URL of a store into the store, importing its driver only then.

    sqlite:///jobs.db                     a file beside the program; four slashes for a whole path
    postgresql://user@host/db?schema=jobs
    mariadb://user@host/db?prefix=jobs_
    redis://host:6379/0?prefix=jobs
    memory://                             this process only, gone when it ends

Owns which URL means which adapter. Passwords never appear in what is said about a URL.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from sempre.errors import InvalidInput, MissingExtra, nearest
from sempre.ports.store import Store

__all__ = ["UrlError", "masked", "open_store"]


class UrlError(InvalidInput):
    """A URL that names no store, or has parts that its store does not take."""


def open_store(url: str) -> Store:
    """Return the store of a URL; nothing is connected before it is used.

    Raises:
        UrlError: the URL cannot be read, or has an unknown scheme or option.
        MissingExtra: the driver is not installed; it names what to install.
        StoreRefused: the store must not be used as the URL asks for.
    """
    if not isinstance(url, str) or "://" not in url:
        raise UrlError("store", url, allowed="a URL such as sqlite:///jobs.db")
    parts = urlsplit(url)
    opener = _OPENERS.get(parts.scheme)
    if opener is None:
        hint = nearest(parts.scheme, _OPENERS)
        allowed = ", ".join(f"{scheme}://" for scheme in _OPENERS)
        raise UrlError("store", masked(url), allowed=allowed, hint=hint)
    return opener(parts)


def masked(url: str) -> str:
    """Return a URL with its password replaced by ***, to be shown to people."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    account, _, host = parts.netloc.rpartition("@")
    user = account.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{user}:***@{host}"))


def _open_memory(parts: SplitResult) -> Store:
    _take_options(parts, ())
    store: Store = _module("sempre.stores.memory").MemoryStore()
    return store


def _open_sqlite(parts: SplitResult) -> Store:
    options, _ = _take_options(parts, ("prefix",))
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not path:
        allowed = "three slashes and a file: sqlite:///jobs.db, or four for a whole path"
        raise UrlError("store", urlunsplit(parts), allowed=allowed)
    dialect = _module("sempre.stores.sql.dialects.sqlite").Sqlite(path, **options)
    return _sql_store(dialect)


def _open_postgresql(parts: SplitResult) -> Store:
    options, conninfo = _take_options(parts, ("schema", "prefix"), passes_on=True)
    module = _module("sempre.stores.sql.dialects.postgresql", driver="psycopg", extra="postgres")
    return _sql_store(module.Postgresql(conninfo, **options))


def _open_mariadb(parts: SplitResult) -> Store:
    options, url = _take_options(parts, ("prefix",), passes_on=True)
    module = _module("sempre.stores.sql.dialects.mariadb", driver="pymysql", extra="mariadb")
    return _sql_store(module.Mariadb(url, **options))


def _open_redis(parts: SplitResult) -> Store:
    options, url = _take_options(parts, ("prefix",), passes_on=True)
    module = _module("sempre.stores.redis", driver="redis", extra="redis")
    store: Store = module.RedisStore(url, **options)
    return store


def _sql_store(dialect: object) -> Store:
    store: Store = _module("sempre.stores.sql").SqlStore(dialect)
    return store


def _module(name: str, *, driver: str = "", extra: str = "") -> ModuleType:
    try:
        if driver:
            import_module(driver)
        return import_module(name)
    except ModuleNotFoundError as error:
        if not driver or (error.name or "").partition(".")[0] != driver:
            raise
        raise MissingExtra(driver, extra=extra) from None


def _take_options(
    parts: SplitResult, known: tuple[str, ...], *, passes_on: bool = False
) -> tuple[dict[str, str], str]:
    """Return our own options of a URL, and the URL without them.

    What is left is the driver's to judge if it is passed on, and an error if it is not.
    """
    given = parse_qsl(parts.query, keep_blank_values=True)
    options = {name: value for name, value in given if name in known}
    rest = [(name, value) for name, value in given if name not in known]
    if rest and not passes_on:
        name = rest[0][0]
        allowed = ", ".join(known) or "no options"
        raise UrlError("store option", name, allowed=allowed, hint=nearest(name, known))
    return options, urlunsplit(parts._replace(query=urlencode(rest)))


_OPENERS: dict[str, Callable[[SplitResult], Store]] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgresql,
    "mariadb": _open_mariadb,
    "redis": _open_redis,
    "rediss": _open_redis,
    "memory": _open_memory,
}
