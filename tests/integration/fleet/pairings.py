"""Stores and brokers in pairs, on servers of a fleet's own that it may kill and start again."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sempre.brokers.beanstalkd_wire import Wire
from tests.integration.brokers.beanstalkd_server import BeanstalkdServer, beanstalkd_server
from tests.integration.redis.redis_server import RedisServer, redis_server
from tests.integration.sql.mariadb_server import new_database, running_mariadb
from tests.integration.sql.postgresql_server import running_postgresql

__all__ = ["PAIRINGS", "STORES", "Pairing", "Server", "pairing_on", "pairings_on"]

STORES = ("sqlite", "postgresql", "mariadb", "redis")
PAIRINGS = (
    "sqlite+store",
    "postgresql+store",
    "postgresql+listen",
    "postgresql+beanstalkd",
    "postgresql+redis",
    "mariadb+store",
    "mariadb+beanstalkd",
    "redis+store",
    "redis+redis",
)


class Server(Protocol):
    """What a fleet may do to a server."""

    def kill(self) -> None: ...
    def start(self) -> None: ...


class Messenger(Server, Protocol):
    """What a fleet may do to the server of a broker."""

    @property
    def pid(self) -> int: ...


@dataclass(frozen=True)
class Pairing:
    """A store and a broker by their URLs, and the servers behind them.

    Attributes:
        name: the two words, with a plus between them.
        store: the URL.
        broker: the URL.
        database: the store's server; None for SQLite.
        messenger: the broker's server; None if the store is the broker.
        flush: makes the broker forget everything.
    """

    name: str
    store: str
    broker: str
    database: Server | None
    messenger: Messenger | None
    flush: Callable[[], None]


@contextmanager
def pairing_on(name: str, folder: Path) -> Iterator[Pairing]:
    """Start the servers of a pairing; skip where one is not installed."""
    with pairings_on([name], folder) as [pairing]:
        yield pairing


@contextmanager
def pairings_on(names: Sequence[str], folder: Path) -> Iterator[list[Pairing]]:
    """Start the servers of pairings that have the same store, which share its server."""
    [store_word] = {name.partition("+")[0] for name in names}
    with ExitStack() as stack:
        place = _PLACES[store_word](stack, folder)
        yield [_paired(name, place, stack) for name in names]


@dataclass(frozen=True)
class Place:
    """A server that has room for many stores, each by a word of its own."""

    server: Server | None
    url_of: Callable[[str], str]


def _paired(name: str, place: Place, stack: ExitStack) -> Pairing:
    broker_word = name.partition("+")[2]
    store, database = place.url_of(broker_word), place.server
    if broker_word == "beanstalkd":
        tubes = stack.enter_context(beanstalkd_server())
        broker = f"beanstalkd://{tubes.address.path}"
        return Pairing(name, store, broker, database, tubes, lambda: _empty(tubes))
    if broker_word == "redis":
        own = database if isinstance(database, RedisServer) else _redis(stack)
        broker = f"redis://127.0.0.1:{own.settings['port']}/0"
        return Pairing(name, store, broker, database, own, lambda: _forget(own))
    broker = {"listen": "store://?listen=1"}.get(broker_word, f"{broker_word}://")
    return Pairing(name, store, broker, database, None, lambda: None)


def _sqlite_place(_: ExitStack, folder: Path) -> Place:
    return Place(None, lambda word: f"sqlite:///{folder / word}.db")


def _postgresql_place(stack: ExitStack, _: Path) -> Place:
    server = stack.enter_context(running_postgresql())
    url = f"postgresql://postgres@/postgres?host={server.folder}"
    return Place(server, lambda word: f"{url}&schema={word}")


def _mariadb_place(stack: ExitStack, _: Path) -> Place:
    server = stack.enter_context(running_mariadb())
    return Place(server, lambda _: new_database(server.path))


def _redis_place(stack: ExitStack, _: Path) -> Place:
    server = _redis(stack)
    url = f"redis://127.0.0.1:{server.settings['port']}/0"
    return Place(server, lambda word: f"{url}?prefix={word}")


def _memory_place(_: ExitStack, __: Path) -> Place:
    return Place(None, lambda _: "memory://")


_PLACES: dict[str, Callable[[ExitStack, Path], Place]] = {
    "sqlite": _sqlite_place,
    "postgresql": _postgresql_place,
    "mariadb": _mariadb_place,
    "redis": _redis_place,
    "memory": _memory_place,
}


def _redis(stack: ExitStack) -> RedisServer:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return stack.enter_context(redis_server(port=str(port), bind="127.0.0.1"))


def _forget(server: RedisServer) -> None:
    with server.client() as client:
        for key in client.scan_iter("*-bell}*"):
            client.delete(key)


def _empty(server: BeanstalkdServer) -> None:
    """Delete every message that nobody has reserved."""
    with server.wire() as wire:
        [listed] = wire.ask([b"list-tubes\r\n"])
        for line in listed.body.decode().splitlines():
            if line.startswith("- "):
                _empty_tube(wire, line.removeprefix("- ").encode())


def _empty_tube(wire: Wire, tube: bytes) -> None:
    wire.ask([b"use %s\r\n" % tube])
    for kind in (b"ready", b"delayed", b"buried"):
        while (found := wire.ask([b"peek-%s\r\n" % kind])[0]).word == "FOUND":
            wire.ask([b"delete %s\r\n" % found.rest[0].encode()])
