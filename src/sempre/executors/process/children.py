"""The children of a worker as it sees them: those that have a run, and some that wait for one.

A fork and the first steps of a child take longer than many a job, so they are done ahead: each run
goes to a child that was forked before it came, and orders another one. The first are ordered with
the first run, not before: a worker without such jobs has none that waits.
"""

import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from sempre.executors.flights import Flight
from sempre.executors.process.frames import Frames
from sempre.executors.process.nurseries import Handle
from sempre.executors.process.orders import BEAR, LIMIT, order
from sempre.executors.process.reports import largest_message
from sempre.ports.executor import Outcome

__all__ = ["Child", "ChildFlight", "Children"]

# While one takes its first steps on one core, the next is forked on another.
AHEAD = 2


@dataclass(eq=False)
class ChildFlight(Flight):
    """A run that goes to a child.

    Attributes:
        over_at: when its time is over, by the clock's `elapsed`; None without a limit.
        lock: guards verdict and child; held until it has one, so that it can be asked to end.
        verdict: how it ends if it was asked to.
        child: which one has it.
    """

    over_at: float | None = None
    lock: Lock = field(default_factory=Lock, init=False)
    verdict: Outcome | None = field(default=None, init=False)
    child: "Child | None" = field(default=None, init=False)


@dataclass(eq=False)
class Child:
    """One child, from its order to its end.

    Attributes:
        number: by which worker and nursery speak of it.
        stream: to the child itself.
        nursery: its parent.
        frames: what it has told.
        unread: what has arrived of it and was not read yet.
        lock: guards the flight, and that nobody writes to a stream which is closed.
        flight: its run, if it has one.
        pid: known once it is born.
        is_watched: whether somebody listens to the stream.
        is_gone: whether it can take no run any more.
        is_malformed: whether it has said something that is no message of ours; no more is read.
    """

    number: int
    stream: socket.socket
    nursery: Handle
    frames: Frames = field(default_factory=Frames, init=False)
    unread: bytes = field(default=b"", init=False)
    lock: Lock = field(default_factory=Lock, init=False)
    flight: ChildFlight | None = field(default=None, init=False)
    pid: int | None = field(default=None, init=False)
    is_watched: bool = field(default=False, init=False)
    is_gone: bool = field(default=False, init=False)
    is_malformed: bool = field(default=False, init=False)

    def takes(self, flight: ChildFlight, call: bytes) -> bool:
        """Hand it its run; False if it is gone, and then the run has not begun.

        Its nursery knows the limit before: from then on nothing that happens here can extend it.
        """
        with self.lock:
            if self.is_gone:
                return False
            self.flight = flight
            self.frames.largest = largest_message(flight.run.task)
            try:
                if flight.over_at is not None:
                    at = int(flight.over_at * 1_000_000) + 1
                    self.nursery.send(order(LIMIT, self.number, at))
                self.stream.sendall(call)
            except OSError:
                # It has not got all of it.
                self.flight = None
                return False
        flight.child = self
        return True

    def leave(self) -> ChildFlight | None:
        """Give it no run from now on; return the one that it has."""
        with self.lock:
            self.is_gone = True
            return self.flight

    def hint(self, raw: bytes) -> None:
        """Tell it something if it has ears for it; it never waits."""
        with self.lock:
            try:
                self.stream.send(raw, socket.MSG_DONTWAIT)
            except OSError:
                return

    def close(self) -> None:
        """Close the stream."""
        with self.lock:
            self.stream.close()


class Children:
    """All children that have been ordered and are not gone."""

    def __init__(self, nursery: Callable[[], Handle | None]) -> None:
        """Make an empty room; `nursery` returns the one that takes orders."""
        self._nursery = nursery
        self._all: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._numbers = count(1)
        self._lock = Lock()

    def take(self, flight: ChildFlight, call: bytes) -> bool:
        """Give a run to a child that waits, or to a new one; False if no child took it.

        Raises:
            ConnectionError: there is no nursery that could fork one.
            OSError: there can be no stream to one.
        """
        with self._lock:
            while self._waiting:
                if self._waiting.popleft().takes(flight, call):
                    return True
            return self._ordered().takes(flight, call)

    def order(self) -> None:
        """See to it that children wait for the next runs.

        Raises:
            OSError: as for `take`.
        """
        with self._lock:
            while len(self._waiting) < AHEAD:
                self._waiting.append(self._ordered())

    def get(self, number: int) -> Child | None:
        """Return a child that is not gone."""
        return self._all.get(number)

    def bury(self, number: int) -> Child | None:
        """Forget a child that is gone."""
        return self._all.pop(number, None)

    def of(self, nursery: Handle) -> list[Child]:
        """Return the children of a nursery."""
        return [child for child in [*self._all.values()] if child.nursery is nursery]

    def all(self) -> list[Child]:
        """Return all of them."""
        return [*self._all.values()]

    def _ordered(self) -> Child:
        nursery = self._nursery()
        if nursery is None:
            raise ConnectionError("there is no nursery")
        ours, theirs = socket.socketpair()
        with theirs:
            child = Child(next(self._numbers), ours, nursery)
            self._all[child.number] = child
            try:
                nursery.send(order(BEAR, child.number), theirs.fileno())
            except OSError as error:
                self._all.pop(child.number, None)
                ours.close()
                raise ConnectionError(error) from error
        return child
