"""Beanstalkd as the bell: a tube for each lane, one connection that puts, one for each reserver.

The server knows which connection has reserved a job, and ends the reservation with the connection.
So a thread finishes its deliveries on the connection that reserved them. A job that this connection
did not reserve is never deleted: a server without a log reuses ids after a restart. A wait that is
interrupted closes its connection, and the server takes back the jobs that it may have given out.

Delays are rounded up to whole seconds. A failed call is not repeated; the next call connects again.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from math import ceil
from threading import local
from weakref import WeakSet

from sempre.brokers.beanstalkd_wire import Address, Answer, Line, ProtocolError, Wire
from sempre.brokers.lanes import check_lanes
from sempre.brokers.waker import Ending, Waker
from sempre.clock import Clock, SystemClock
from sempre.errors import BrokerError, BrokerUnavailable
from sempre.forking import PerProcess
from sempre.ports.broker import LARGEST_BODY, BrokerCapabilities, Delivery, Message

__all__ = ["BeanstalkdBroker"]

# The server's numbers have 32 bits; beyond that the server would read a body as commands.
_MOST = 2**32 - 1
# Reservations asked for at once: few at first, since most waits are for one.
_FIRST_WINDOW, _GROWTH = 8, 8
# A connection that holds a job about to time out gets DEADLINE_SOON instead of another job.
_DEADLINE_PAUSE = 0.1
# How much longer a wait may take so that it ends with an answer and keeps the connection.
_SLACK = 0.05
_TUBE_AND_PRIORITY = re.compile(rb"^tube: (\S+)$.*^pri: (\d+)$", re.MULTILINE | re.DOTALL)
_RESERVE_NOW = b"reserve-with-timeout 0\r\n"


class BeanstalkdBroker:
    """The broker of a beanstalkd, which threads and forked children may share.

    Args:
        address: of the server.
        clock: by which waits end.
        visibility: after how many seconds an unfinished message is delivered again; whole ones.
        connect_after: after how many seconds connecting is given up.
        answer_after: after how many seconds without an answer the server counts as gone.
    """

    capabilities = BrokerCapabilities(
        carries=True,
        horizon=timedelta(days=1),
        prioritises=True,
        shared=True,
        precision=1.0,
        remote=True,
    )

    def __init__(
        self,
        address: Address | None = None,
        *,
        clock: Clock | None = None,
        visibility: float = 120.0,
        connect_after: float = 5.0,
        answer_after: float = 10.0,
    ) -> None:
        """Connect to nothing yet."""
        self._address = address or Address()
        self._clock = clock or SystemClock()
        self._time_to_run = max(1, ceil(visibility))
        self._connect_after = connect_after
        self._answer_after = answer_after
        self._receipts = count(1)
        self._process = PerProcess(self._new_lines)
        self._closed = False

    def answer_within(self, seconds: float) -> None:
        """Let no call wait longer than this for the server; the next call connects anew."""
        if seconds < self._answer_after:
            self._answer_after = seconds
            self._process = PerProcess(self._new_lines)

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Put messages, many in one write; an empty handle where one is refused."""
        check_lanes({message.lane for message in messages})
        if not messages:
            return []
        bodies = [message.body.encode("utf-8", "surrogateescape") for message in messages]
        with self._connected(self._process.get().producer) as wire:
            asked = wire.lines(self._puts(wire, messages, bodies))
        taken = (line for line in asked if not line.startswith("USING "))
        found = [next(taken) if len(body) <= LARGEST_BODY else "JOB_TOO_BIG" for body in bodies]
        handles = [line[9:] if line.startswith("INSERTED ") else "" for line in found]
        if not any(handles):
            said = ", ".join(sorted({line.partition(" ")[0] for line in found}))
            raise BrokerUnavailable(f"{self._name} took nothing in and said {said}.")
        return handles

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return ready jobs, waiting for the first; an interrupted wait closes its connection."""
        check_lanes(lanes)
        lines, until = self._process.get(), self._clock.elapsed() + wait
        if limit < 1 or not lanes:
            self._check_open()
            lines.waker.wait(wait)
            return []
        try:
            with self._connected(lines.consumer()) as wire:
                wire.ask(_watches(wire, set(lanes)))
                jobs = self._jobs(wire, lines.waker, limit=limit, until=until)
                return list(self._deliveries(wire, jobs))
        except _BrokenOff:
            return []

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Delete what this thread's connection still has reserved."""
        self._finish(deliveries, lambda delivery: f"delete {delivery.handle}\r\n")

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Release what this thread's connection still has reserved."""
        seconds = _whole_seconds(delay)

        def release(delivery: Delivery) -> str:
            return f"release {delivery.handle} {_priority(delivery.message.priority)} {seconds}\r\n"

        self._finish(deliveries, release)

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Peek at a job, and compare its tube and body; a buried job counts as gone."""
        if not (handle.isascii() and handle.isdigit()):
            self._check_open()
            return False
        number = handle.encode()
        with self._connected(self._process.get().producer) as wire:
            asked = [b"peek %b\r\n" % number, b"stats-job %b\r\n" % number]
            peeked, stats = wire.ask(asked)
        known = stats.fields()
        there = known.get("tube") == lane and known.get("state") != "buried"
        return there and peeked.body == body.encode("utf-8", "surrogateescape")

    def has_any(self, lane: str) -> bool:
        """Return whether a tube has ready or delayed jobs."""
        check_lanes([lane])
        with self._connected(self._process.get().producer) as wire:
            [stats] = wire.ask([b"stats-tube %b\r\n" % lane.encode()])
        known = stats.fields()
        return any(known.get(f"current-jobs-{state}", "0") != "0" for state in ("ready", "delayed"))

    def empty(self, lanes: Sequence[str]) -> int:
        """Delete the jobs of tubes that are not reserved, buried jobs included.

        No id can have been reused between the peek at a job and its deletion: a server that has
        lost its memory has closed the connection.
        """
        check_lanes(lanes)
        with self._connected(self._process.get().producer) as wire:
            return sum(_emptied(wire, lane) for lane in dict.fromkeys(lanes))

    def wake(self) -> None:
        """End every wait, and the next one of each thread that does not wait now."""
        self._process.get().waker.wake()

    def close(self) -> None:
        """Hang up every connection of this process."""
        self._closed = True
        lines = self._process.get()
        lines.waker.wake()
        for line in lines.every():
            line.hang_up()

    def _new_lines(self) -> "_Lines":
        return _Lines(self._connect)

    def _connect(self, waited: float) -> Wire:
        return Wire(
            self._address,
            connect_after=self._connect_after,
            answer_after=self._answer_after,
            waited=waited,
        )

    @contextmanager
    def _connected(self, line: Line) -> Iterator[Wire]:
        self._check_open()
        try:
            with line.connected(within=self._answer_after) as wire:
                yield wire
        except (OSError, ProtocolError) as error:
            said = str(error) or type(error).__name__
            raise BrokerUnavailable(f"{self._name} cannot be used: {said}.") from None

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError(f"the broker of {self._name} is closed; open another one.")

    def _puts(
        self, wire: Wire, messages: Sequence[Message], bodies: Sequence[bytes]
    ) -> Iterator[bytes]:
        time_to_run = self._time_to_run
        for (lane, _, delay, priority), body in zip(messages, bodies, strict=True):
            size = len(body)
            if size > LARGEST_BODY:
                continue
            if wire.using != lane:
                wire.using = lane
                yield b"use %b\r\n" % lane.encode()
            numbers = _priority(priority), _whole_seconds(delay), time_to_run, size
            yield b"put %d %d %d %d\r\n%b\r\n" % (*numbers, body)

    def _jobs(self, wire: Wire, waker: Waker, *, limit: int, until: float) -> list[Answer]:
        """Reserve up to `limit` jobs, waiting for the first until an instant or a wake-up."""
        while not (found := _reserved_now(wire, limit)):
            left = until - self._clock.elapsed()
            if left <= 0 or waker.is_woken():
                break
            first = _reserved_after_waiting(wire, waker, left)
            if first.word == "RESERVED":
                return [first, *_reserved_now(wire, limit - 1)]
            if first.word == "DEADLINE_SOON":
                pause = min(_DEADLINE_PAUSE, left)
                if waker.wait(pause) is Ending.WOKEN:
                    break
        return found

    def _deliveries(self, wire: Wire, jobs: Sequence[Answer]) -> Iterator[Delivery]:
        """Query what a reservation leaves out: the tube and the priority of a job."""
        asked = wire.ask([b"stats-job %b\r\n" % job.rest[0].encode() for job in jobs])
        for job, stats in zip(jobs, asked, strict=True):
            known = _TUBE_AND_PRIORITY.search(stats.body)
            if known is not None:
                handle, receipt = job.rest[0], str(next(self._receipts))
                wire.reserved[handle] = receipt
                body = job.body.decode("utf-8", "surrogateescape")
                message = Message(known[1].decode(), body, priority=int(known[2]))
                yield Delivery(message, handle, receipt)

    def _finish(self, deliveries: Sequence[Delivery], command: Callable[[Delivery], str]) -> None:
        """Send a command for each delivery whose reservation this connection still has."""
        self._check_open()
        line = self._process.get().consumer()
        if not deliveries or not line.is_connected:
            return
        with self._connected(line) as wire:
            ours = [each for each in deliveries if wire.has_reserved(each.handle, each.receipt)]
            for each in ours:
                wire.reserved.pop(each.handle, None)
            # After NOT_FOUND the reservation has ended: the job belongs to another connection.
            wire.ask([command(each).encode() for each in ours])

    @property
    def _name(self) -> str:
        return f"the beanstalkd at {self._address}"


class _BrokenOff(Exception):
    """A wait has ended without an answer, so the connection has to be closed."""


class _Lines:
    """The connections of one process, and the waker that ends its waits."""

    def __init__(self, connect: Callable[[float], Wire]) -> None:
        self._connect = connect
        self._thread = local()
        self._consumers: WeakSet[Line] = WeakSet()
        self.producer = Line(connect)
        self.waker = Waker()

    def consumer(self) -> Line:
        """Return the line on which this thread reserves."""
        known: Line | None = getattr(self._thread, "line", None)
        if known is None:
            known = self._thread.line = Line(self._connect)
            self._consumers.add(known)
        return known

    def every(self) -> list[Line]:
        return [self.producer, *self._consumers]


def _whole_seconds(delay: float) -> int:
    return min(ceil(delay), _MOST) if delay > 0 else 0


def _priority(given: int) -> int:
    return given if 0 <= given <= _MOST else min(max(0, given), _MOST)


def _watches(wire: Wire, lanes: set[str]) -> list[bytes]:
    """Return the commands after which a connection watches these lanes, the new ones first."""
    new, old = sorted(lanes - wire.watched), sorted(wire.watched - lanes)
    wire.watched = lanes
    return [
        *(b"watch %b\r\n" % lane.encode() for lane in new),
        *(b"ignore %b\r\n" % lane.encode() for lane in old),
    ]


def _reserved_now(wire: Wire, limit: int) -> list[Answer]:
    """Reserve up to `limit` ready jobs, window by window until one comes back short."""
    found: list[Answer] = []
    window = _FIRST_WINDOW
    while len(found) < limit:
        asked = min(window, limit - len(found))
        jobs = [each for each in wire.ask([_RESERVE_NOW] * asked) if each.word == "RESERVED"]
        found += jobs
        if len(jobs) < asked:
            break
        window *= _GROWTH
    return found


def _reserved_after_waiting(wire: Wire, waker: Waker, seconds: float) -> Answer:
    """Wait for a job; by the server's timeout if the wait is nearly whole seconds."""
    whole = min(ceil(seconds), _MOST)
    wire.send(b"reserve-with-timeout %d\r\n" % whole)
    patience = whole + _SLACK if whole - seconds < _SLACK else seconds
    if waker.wait(patience, wire) is not Ending.READABLE:
        raise _BrokenOff
    wire.renew()
    return wire.answer()


def _emptied(wire: Wire, lane: str) -> int:
    """Delete what waits in a tube, but no more than there is now: others may go on putting."""
    tube, gone = lane.encode(), 0
    *_, stats = wire.ask([b"use %b\r\n" % tube, b"stats-tube %b\r\n" % tube])
    wire.using, known = lane, stats.fields()
    for state in ("ready", "delayed", "buried"):
        for _ in range(int(known.get(f"current-jobs-{state}", "0"))):
            [found] = wire.ask([b"peek-%b\r\n" % state.encode()])
            if found.word != "FOUND":
                break
            [answer] = wire.ask([b"delete %b\r\n" % found.rest[0].encode()])
            gone += answer.word == "DELETED"
    return gone
