"""Turns the URL of a store or broker into the adapter, importing its driver only then.

Stores:

    sqlite:///jobs.db                     a file beside the program; four slashes for a whole path;
                                          ?mode=0660 lets a group use the file too
    postgresql://user@host/db?schema=jobs  or several hosts: host:5432,other:5432
    mariadb://user@host/db?prefix=jobs_
    redis://host:6379/0?prefix=jobs
    memory://                             this process only, gone when it ends

A server with weaker promises is refused; the error names the option that accepts the server:
`?read_only=1`, `?any_flush=1`. PostgreSQL and MariaDB have at most 8 connections in a process,
or as many as `?connections=` says.

Brokers:

    store://                              the store itself, also written as an empty text
    store://?listen=0                     PostgreSQL without LISTEN, or Redis without SUBSCRIBE:
                                          workers query the store instead
    store://?listen=1                     LISTEN behind a pooler too, if it keeps sessions
    beanstalkd://host:11300               or beanstalkd:///run/beanstalkd.sock
    redis://host:6379/0?prefix=jobs       also rediss://
    memory://                             this process only

Owns which URL means which adapter, and which options an adapter takes. Errors show the scheme, host
and database of a URL only; `sempre.addresses.spelling` decides that.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast
from urllib.parse import SplitResult, unquote, urlsplit

from sempre.addresses.options import (
    UrlError,
    own_options,
    take_options,
    take_store_options,
    written,
)
from sempre.addresses.spelling import fault_of, normalised, shown_url
from sempre.errors import MissingExtra, nearest
from sempre.ports.broker import Broker
from sempre.ports.store import Store

__all__ = ["UrlError", "file_of", "masked", "open_broker", "open_store"]

T = TypeVar("T")
_POSTGRESQL_FLAGS = ("any_flush", "read_only")
_REDIS_FLAGS = ("allow_eviction", "allow_no_aof", "allow_replica")
_POSTGRESQL_TEXTS = ("schema", "prefix", "connections")
# Options of the drivers that change nothing on which an adapter depends.
_MARIADB_DRIVER = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")
_REDIS_DRIVER = ("client_name", "db", "health_check_interval", "password", "username")
_REDIS_TLS = (
    *("ssl_ca_certs", "ssl_ca_path", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname"),
    *("ssl_keyfile", "ssl_password"),
)


def open_store(url: str) -> Store:
    """Return the store of a URL; the first use connects.

    Raises:
        UrlError: the URL cannot be read, or has an unknown scheme or option.
        MissingExtra: the driver is not installed; the error names what to install.
        StoreRefused: the store must not be used as the URL asks for.
    """
    parts = _read("store", url, example="sqlite:///jobs.db")
    return _chosen("store", parts, _STORES)(parts)


def open_broker(url: str, *, store_url: str = "", store: Store | None = None) -> Broker:
    """Return the broker of a URL; the first use connects.

    Where the store is its own broker, its URL decides how workers of other processes are woken.

    Args:
        url: of the broker.
        store_url: of the store.
        store: returned by `open_store` for that URL, and closed by the caller; without it the
            broker of a store on a server wakes workers of this process only.

    Raises:
        UrlError: the URL cannot be read, or has an unknown scheme or option.
        MissingExtra: the driver is not installed; the error names what to install.
    """
    parts = _read("broker", url or "store://", example="beanstalkd://127.0.0.1:11300")
    itself = partial(_open_store_broker, store_url=store_url, opened=store)
    return _chosen("broker", parts, {"store": itself} | _BROKERS)(parts)


def masked(url: str) -> str:
    """Return a URL as it may be shown to people: its scheme, host and database, no more."""
    return shown_url(url)


def file_of(url: str) -> Path | None:
    """Return the file of a SQLite store; None for a store of another kind.

    Raises:
        UrlError: the URL cannot be read.
    """
    parts = _read("store", url, example="sqlite:///jobs.db")
    if parts.scheme != "sqlite":
        return None
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not path or "\0" in path:
        allowed = "three slashes and a file: sqlite:///jobs.db, or four for a whole path"
        raise UrlError("store", shown_url(url), allowed=allowed)
    return Path(path)


def _read(field: str, url: str, *, example: str) -> SplitResult:
    fault = fault_of(url)
    if not fault:
        try:
            parts = urlsplit(normalised(url))
            for each in _single_hosts(parts):
                _ = each.port
        except ValueError:
            # What the parser says repeats parts of the URL, of a password too.
            fault = "with a host and a port that exist"
        else:
            return parts
    allowed = f"a URL such as {example}: {fault}"
    raise UrlError(field, shown_url(url), allowed=allowed)


def _single_hosts(parts: SplitResult) -> list[SplitResult]:
    """Return a URL once for each of its hosts."""
    hosts = parts.netloc.rpartition("@")[2].split(",")
    return [parts._replace(netloc=host) for host in hosts]


def _chosen(
    field: str, parts: SplitResult, openers: dict[str, Callable[[SplitResult], T]]
) -> Callable[[SplitResult], T]:
    if parts.scheme in openers:
        return openers[parts.scheme]
    hint = nearest(parts.scheme, openers)
    allowed = ", ".join(f"{scheme}://" for scheme in openers)
    raise UrlError(field, shown_url(written(parts)), allowed=allowed, hint=hint)


# Stores


def _open_memory(parts: SplitResult) -> Store:
    take_options(parts, ())
    store: Store = _module("sempre.stores.memory").MemoryStore()
    return store


def _open_sqlite(parts: SplitResult) -> Store:
    options, _ = take_store_options(parts, ("prefix", "mode"), ("any_filesystem",))
    path = file_of(written(parts))
    dialect = _module("sempre.stores.sql.dialects.sqlite").Sqlite(str(path), **options)
    return _sql_store(dialect)


def _open_postgresql(parts: SplitResult) -> Store:
    module = _module("sempre.stores.sql.dialects.postgresql", driver="psycopg", extra="postgres")
    options, conninfo = take_store_options(
        parts, _POSTGRESQL_TEXTS, _POSTGRESQL_FLAGS, driver=module.driver_options()
    )
    return _sql_store(module.Postgresql(conninfo, **options))


def _open_mariadb(parts: SplitResult) -> Store:
    flags = ("any_flush", "any_cluster", "read_only")
    _refuse_several_hosts("store", parts)
    options, url = take_store_options(
        parts, ("prefix", "connections"), flags, driver=_MARIADB_DRIVER
    )
    module = _module("sempre.stores.sql.dialects.mariadb", driver="pymysql", extra="mariadb")
    return _sql_store(module.Mariadb(url, **options))


def _open_redis(parts: SplitResult) -> Store:
    _check_redis("store", parts)
    options, url = take_store_options(
        parts, ("prefix",), _REDIS_FLAGS, driver=_redis_options(parts)
    )
    module = _module("sempre.stores.redis", driver="redis", extra="redis")
    store: Store = module.RedisStore(url, **options)
    return store


def _sql_store(dialect: object) -> Store:
    store: Store = _module("sempre.stores.sql").SqlStore(dialect)
    return store


# Brokers


def _open_store_broker(parts: SplitResult, store_url: str, opened: Store | None) -> Broker:
    options, _ = take_options(parts, ("listen",), field="broker")
    _refuse_place("broker", parts, allowed="store://, store://?listen=0 or store://?listen=1")
    listen = options.get("listen")
    store = _read("store", store_url or "store://", example="sqlite:///jobs.db")
    if listen not in {None, "0", "1"} or (listen == "1" and store.scheme != "postgresql"):
        allowed = "0, or 1 if the store is a PostgreSQL database"
        raise UrlError("broker option listen", listen, allowed=allowed)
    watch: object = None
    if store.scheme == "sqlite":
        options, _ = take_options(store, ("prefix", "mode", "any_filesystem"))
        path, is_local = unquote(store.path.removeprefix("/")), options.get("any_filesystem") != "1"
        watch = _module("sempre.brokers.bell_file").BellFile(path, events=is_local)
    elif opened and store.scheme in {"postgresql", "redis", "rediss"} and listen != "0":
        woken_by = _postgresql_watch if store.scheme == "postgresql" else _redis_watch
        watch = woken_by(store, opened, through_poolers=listen == "1")
    broker: Broker = _module("sempre.brokers.store").StoreBroker(watch)
    return broker


def _postgresql_watch(parts: SplitResult, store: Any, *, through_poolers: bool) -> object:  # noqa: ANN401 - of an adapter
    """Return the watch of a store in PostgreSQL, which listens to notifications."""
    names = (*_POSTGRESQL_TEXTS, *_POSTGRESQL_FLAGS)
    known, conninfo = own_options(parts, names)
    module = _module("sempre.brokers.listen", driver="psycopg", extra="postgres")
    # The server takes no longer names; where two become one, a worker is woken for nothing.
    channel = f"{known.get('schema', 'sempre')}.{known.get('prefix', 'sempre_')}bell"[:63]
    notifier = store.notifier(channel)
    made = module.Listener(
        conninfo, channel=channel, notifier=notifier, through_poolers=through_poolers
    )
    return cast("object", made)


def _redis_watch(parts: SplitResult, store: Any, *, through_poolers: bool) -> object:  # noqa: ANN401, ARG001 - as above
    """Return the watch of a store in Redis, which subscribes to a channel."""
    known, url = own_options(parts, ("prefix", *_REDIS_FLAGS))
    channel = f"{{{known.get('prefix', 'sempre')}}}:bell"
    module = _module("sempre.brokers.redis.watch", driver="redis", extra="redis")
    made = module.RedisWatch(url, channel=channel, notifier=store.notifier(channel))
    return cast("object", made)


def _open_memory_broker(parts: SplitResult) -> Broker:
    take_options(parts, (), field="broker")
    _refuse_place("broker", parts, allowed="memory://")
    broker: Broker = _module("sempre.brokers.memory").MemoryBroker()
    return broker


def _open_beanstalkd(parts: SplitResult) -> Broker:
    take_options(parts, (), field="broker")
    path = unquote(parts.path)
    if parts.username or parts.password or bool(parts.hostname) == bool(path.strip("/")):
        allowed = "beanstalkd://host:11300 or beanstalkd:///path/of.sock; it knows no passwords"
        raise UrlError("broker", shown_url(written(parts)), allowed=allowed)
    address = _module("sempre.brokers.beanstalkd_wire").Address(
        parts.hostname or "", parts.port or 11300, "" if parts.hostname else path
    )
    broker: Broker = _module("sempre.brokers.beanstalkd").BeanstalkdBroker(address)
    return broker


def _open_redis_broker(parts: SplitResult) -> Broker:
    _check_redis("broker", parts)
    options, url = take_options(parts, ("prefix",), driver=_redis_options(parts), field="broker")
    module = _module("sempre.brokers.redis", driver="redis", extra="redis")
    broker: Broker = module.RedisBroker(url, **options)
    return broker


def _refuse_place(field: str, parts: SplitResult, *, allowed: str) -> None:
    if parts.netloc or parts.path.strip("/"):
        raise UrlError(field, shown_url(written(parts)), allowed=allowed)


# Both


def _refuse_several_hosts(field: str, parts: SplitResult) -> None:
    if "," in parts.netloc.rpartition("@")[2]:
        raise UrlError(field, shown_url(written(parts)), allowed="one host, without a comma")


def _check_redis(field: str, parts: SplitResult) -> None:
    """Refuse a database without a number: the driver would silently use database 0."""
    _refuse_several_hosts(field, parts)
    database = parts.path.strip("/")
    if database and not database.isdecimal():
        allowed = "the number of a database after the host, as in redis://host:6379/0"
        raise UrlError(field, shown_url(written(parts)), allowed=allowed)
    numbers, _ = own_options(parts, ("db", "health_check_interval"))
    for name, text in numbers.items():
        if not text.isdecimal():
            raise UrlError(f"{field} option {name}", text, allowed="a number")


def _redis_options(parts: SplitResult) -> tuple[str, ...]:
    """Return the options of the driver; those of TLS exist only where there is TLS."""
    return _REDIS_DRIVER + _REDIS_TLS if parts.scheme == "rediss" else _REDIS_DRIVER


def _module(name: str, *, driver: str = "", extra: str = "") -> ModuleType:
    try:
        if driver:
            import_module(driver)
        return import_module(name)
    except ModuleNotFoundError as error:
        if not driver or (error.name or "").partition(".")[0] != driver:
            raise
        raise MissingExtra(driver, extra=extra) from None


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
