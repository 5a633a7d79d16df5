"""Turns the URL of a store or broker into the adapter, importing its driver only then.

Stores:

    sqlite:///jobs.db                     a file beside the program; four slashes for a whole path;
                                          ?mode=0660 lets a group use it, by default nobody else
    postgresql://user@host/db?schema=jobs  or several hosts: host:5432,other:5432
    mariadb://user@host/db?prefix=jobs_
    redis://host:6379/0?prefix=jobs
    memory://                             this process only, gone when it ends

A server that must not be a store is refused, and says which option accepts its weaker promise:
`?read_only=1`, `?any_flush=1`. PostgreSQL and MariaDB have at most 8 connections in a process,
or as many as `?connections=` says.

Brokers:

    store://                              the store itself; an empty text means the same
    store://?listen=0                     PostgreSQL without LISTEN, or Redis without SUBSCRIBE:
                                          workers query it instead
    store://?listen=1                     LISTEN behind a pooler too, if it keeps sessions
    beanstalkd://host:11300               or beanstalkd:///run/beanstalkd.sock
    redis://host:6379/0?prefix=jobs       also rediss://
    memory://                             this process only

Owns which URL means which adapter. Passwords never appear in what is said about a URL.
"""

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar, cast
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from sempre.errors import InvalidInput, MissingExtra, nearest
from sempre.ports.broker import Broker
from sempre.ports.store import Store

__all__ = ["UrlError", "masked", "open_broker", "open_store"]

T = TypeVar("T")
_POSTGRESQL_FLAGS = ("any_flush", "read_only")
_REDIS_FLAGS = ("allow_eviction", "allow_no_aof", "allow_replica")
_POSTGRESQL_TEXTS = ("schema", "prefix", "connections")


class UrlError(InvalidInput):
    """A URL that names no store or broker, or has parts that it does not take."""


def open_store(url: str) -> Store:
    """Return the store of a URL; nothing is connected before it is used.

    Raises:
        UrlError: the URL cannot be read, or has an unknown scheme or option.
        MissingExtra: the driver is not installed; it names what to install.
        StoreRefused: the store must not be used as the URL asks for.
    """
    parts = _read("store", url, example="sqlite:///jobs.db")
    return _chosen("store", parts, _STORES)(parts)


def open_broker(url: str, *, store_url: str = "", store: Store | None = None) -> Broker:
    """Return the broker of a URL; nothing is connected before it is used.

    Where the store is its own broker, its URL decides how workers of other processes are woken.

    Args:
        url: of the broker.
        store_url: of the store.
        store: what `open_store` has returned for that URL; by default another one is opened.

    Raises:
        UrlError: the URL cannot be read, or has an unknown scheme or option.
        MissingExtra: the driver is not installed; it names what to install.
    """
    parts = _read("broker", url or "store://", example="beanstalkd://127.0.0.1:11300")
    itself = partial(_open_store_broker, store_url=store_url, opened=store)
    return _chosen("broker", parts, {"store": itself} | _BROKERS)(parts)


def masked(url: str) -> str:
    """Return a URL with its password replaced by ***, to be shown to people.

    Of what cannot be read as a URL only the scheme is shown.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("://")[0] + "://..."
    if parts.password is None:
        return url
    account, _, host = parts.netloc.rpartition("@")
    user = account.partition(":")[0]
    return _written(parts._replace(netloc=f"{user}:***@{host}"))


def _read(field: str, url: str, *, example: str) -> SplitResult:
    if not isinstance(url, str) or "://" not in url:
        raise UrlError(field, url, allowed=f"a URL such as {example}")
    if not url.isprintable():
        allowed = f"a URL such as {example}, without control characters"
        raise UrlError(field, url.partition("://")[0] + "://...", allowed=allowed)
    try:
        parts = urlsplit(url)
        for each in _single_hosts(parts):
            _ = each.port  # read here, so that one that is no number is told like the rest
    except ValueError as error:
        allowed = f"a URL such as {example} ({error})"
        raise UrlError(field, url.partition("://")[0] + "://...", allowed=allowed) from None
    return parts


def _single_hosts(parts: SplitResult) -> list[SplitResult]:
    """Return a URL once for each of its hosts; only PostgreSQL takes several."""
    if parts.scheme != "postgresql":
        return [parts]
    hosts = parts.netloc.rpartition("@")[2].split(",")
    return [parts._replace(netloc=host) for host in hosts]


def _chosen(
    field: str, parts: SplitResult, openers: dict[str, Callable[[SplitResult], T]]
) -> Callable[[SplitResult], T]:
    if parts.scheme in openers:
        return openers[parts.scheme]
    hint = nearest(parts.scheme, openers)
    allowed = ", ".join(f"{scheme}://" for scheme in openers)
    raise UrlError(field, masked(_written(parts)), allowed=allowed, hint=hint)


# Stores


def _open_memory(parts: SplitResult) -> Store:
    _take_options(parts, ())
    store: Store = _module("sempre.stores.memory").MemoryStore()
    return store


def _open_sqlite(parts: SplitResult) -> Store:
    flags = ("any_filesystem",)
    options, _ = _take_store_options(parts, ("prefix", "mode"), flags, passes_on=False)
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not path or "\0" in path:
        allowed = "three slashes and a file: sqlite:///jobs.db, or four for a whole path"
        raise UrlError("store", masked(_written(parts)), allowed=allowed)
    dialect = _module("sempre.stores.sql.dialects.sqlite").Sqlite(path, **options)
    return _sql_store(dialect)


def _open_postgresql(parts: SplitResult) -> Store:
    options, conninfo = _take_store_options(parts, _POSTGRESQL_TEXTS, _POSTGRESQL_FLAGS)
    module = _module("sempre.stores.sql.dialects.postgresql", driver="psycopg", extra="postgres")
    return _sql_store(module.Postgresql(conninfo, **options))


def _open_mariadb(parts: SplitResult) -> Store:
    flags = ("any_flush", "any_cluster", "read_only")
    options, url = _take_store_options(parts, ("prefix", "connections"), flags)
    module = _module("sempre.stores.sql.dialects.mariadb", driver="pymysql", extra="mariadb")
    return _sql_store(module.Mariadb(url, **options))


def _open_redis(parts: SplitResult) -> Store:
    options, url = _take_store_options(parts, ("prefix",), _REDIS_FLAGS)
    module = _module("sempre.stores.redis", driver="redis", extra="redis")
    store: Store = module.RedisStore(url, **options)
    return store


def _take_store_options(
    parts: SplitResult, texts: tuple[str, ...], flags: tuple[str, ...], *, passes_on: bool = True
) -> tuple[dict[str, str | bool | int], str]:
    """Return our own options of a URL, those that accept something as True or False."""
    options, url = _take_options(parts, (*texts, *flags), passes_on=passes_on)
    return {name: _option(name, text, flags) for name, text in options.items()}, url


def _option(name: str, text: str, flags: tuple[str, ...]) -> str | bool | int:
    field = f"store option {name}"
    if name in flags:
        if text not in {"0", "1"}:
            raise UrlError(field, text, allowed="0 or 1")
        return text == "1"
    if name == "connections":
        if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
            raise UrlError(field, text, allowed="a number from 1 on")
        return int(text)
    if name == "mode":
        if not re.fullmatch("(0o?)?6[0246]{2}", text):
            raise UrlError(field, text, allowed="the mode of a file, such as 0600 or 0660")
        return int(text, 8)
    return text


def _sql_store(dialect: object) -> Store:
    store: Store = _module("sempre.stores.sql").SqlStore(dialect)
    return store


# Brokers


def _open_store_broker(parts: SplitResult, store_url: str, opened: Store | None) -> Broker:
    options, _ = _take_options(parts, ("listen",), field="broker")
    _refuse_place("broker", parts, allowed="store://, store://?listen=0 or store://?listen=1")
    listen, store = options.get("listen"), urlsplit(store_url)
    if listen not in {None, "0", "1"} or (listen == "1" and store.scheme != "postgresql"):
        allowed = "0, or 1 if the store is a PostgreSQL database"
        raise UrlError("broker option listen", listen, allowed=allowed)
    watch: object = None
    if store.scheme == "sqlite":
        options, _ = _take_options(store, ("prefix", "mode", "any_filesystem"))
        path, is_local = unquote(store.path.removeprefix("/")), options.get("any_filesystem") != "1"
        watch = _module("sempre.brokers.bell_file").BellFile(path, events=is_local)
    elif store.scheme in {"postgresql", "redis", "rediss"} and listen != "0":
        woken_by = _postgresql_watch if store.scheme == "postgresql" else _redis_watch
        watch = woken_by(store, opened or open_store(store_url), through_poolers=listen == "1")
    broker: Broker = _module("sempre.brokers.store").StoreBroker(watch)
    return broker


def _postgresql_watch(parts: SplitResult, store: Any, *, through_poolers: bool) -> object:  # noqa: ANN401 - of an adapter
    """Return what hears the notifications of a store in PostgreSQL."""
    names = (*_POSTGRESQL_TEXTS, *_POSTGRESQL_FLAGS)
    known, conninfo = _take_options(parts, names, passes_on=True)
    module = _module("sempre.brokers.listen", driver="psycopg", extra="postgres")
    # The server takes no longer names; where two become one, a worker is woken for nothing.
    channel = f"{known.get('schema', 'sempre')}.{known.get('prefix', 'sempre_')}bell"[:63]
    notifier = store.notifier(channel)
    made = module.Listener(
        conninfo, channel=channel, notifier=notifier, through_poolers=through_poolers
    )
    return cast("object", made)


def _redis_watch(parts: SplitResult, store: Any, *, through_poolers: bool) -> object:  # noqa: ANN401, ARG001 - as above
    """Return what hears the messages of a store in Redis."""
    known, url = _take_options(parts, ("prefix", *_REDIS_FLAGS), passes_on=True)
    channel = f"{{{known.get('prefix', 'sempre')}}}:bell"
    module = _module("sempre.brokers.redis.watch", driver="redis", extra="redis")
    made = module.RedisWatch(url, channel=channel, notifier=store.notifier(channel))
    return cast("object", made)


def _open_memory_broker(parts: SplitResult) -> Broker:
    _take_options(parts, (), field="broker")
    _refuse_place("broker", parts, allowed="memory://")
    broker: Broker = _module("sempre.brokers.memory").MemoryBroker()
    return broker


def _open_beanstalkd(parts: SplitResult) -> Broker:
    _take_options(parts, (), field="broker")
    path = unquote(parts.path)
    if parts.username or parts.password or bool(parts.hostname) == bool(path.strip("/")):
        allowed = "beanstalkd://host:11300 or beanstalkd:///path/of.sock; it knows no passwords"
        raise UrlError("broker", masked(_written(parts)), allowed=allowed)
    address = _module("sempre.brokers.beanstalkd_wire").Address(
        parts.hostname or "", parts.port or 11300, "" if parts.hostname else path
    )
    broker: Broker = _module("sempre.brokers.beanstalkd").BeanstalkdBroker(address)
    return broker


def _open_redis_broker(parts: SplitResult) -> Broker:
    options, url = _take_options(parts, ("prefix",), passes_on=True)
    module = _module("sempre.brokers.redis", driver="redis", extra="redis")
    broker: Broker = module.RedisBroker(url, **options)
    return broker


def _refuse_place(field: str, parts: SplitResult, *, allowed: str) -> None:
    if parts.netloc or parts.path.strip("/"):
        raise UrlError(field, masked(_written(parts)), allowed=allowed)


# Both


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
    parts: SplitResult, known: tuple[str, ...], *, passes_on: bool = False, field: str = "store"
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
        raise UrlError(f"{field} option", name, allowed=allowed, hint=nearest(name, known))
    return options, _written(parts._replace(query=urlencode(rest)))


def _written(parts: SplitResult) -> str:
    """Return a URL with both slashes, also where it names no host."""
    place = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return f"{place}?{parts.query}" if parts.query else place


_STORES: dict[str, Callable[[SplitResult], Store]] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgresql,
    "mariadb": _open_mariadb,
    "redis": _open_redis,
    "rediss": _open_redis,
    "memory": _open_memory,
}
_BROKERS: dict[str, Callable[[SplitResult], Broker]] = {
    "beanstalkd": _open_beanstalkd,
    "redis": _open_redis_broker,
    "rediss": _open_redis_broker,
    "memory": _open_memory_broker,
}
