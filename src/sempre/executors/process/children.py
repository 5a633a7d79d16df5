"""The children of a worker: children with a run, and two children that wait for a run.

A fork and the first steps of a child take longer than many a job, so both happen in advance: each
run goes to a waiting child, and orders another child. Measured, that gives a third more runs per
second. The first run orders the first two children: a worker without such jobs has no children.
"""

import socket
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from sempre.executors.process.frames import FrameReader, encode_frame
from sempre.executors.process.reports import largest_message
from sempre.executors.process.server_messages import END, FORK, LIMIT, encode
from sempre.executors.process.server_process import ServerProcess
from sempre.executors.runs_in_flight import RunInFlight

__all__ = ["Child", "ChildRun", "Children"]

# Two: while a child takes its first steps on one core, another is forked on the next.
AHEAD = 2


@dataclass(eq=False)
class ChildRun(RunInFlight):
    """A run that goes to a child.

    Attributes:
        over_at: when its time is over, by the clock's `elapsed`; None without a limit.
        starting: held until the run has its child, so that a request to end finds the child.
        child: the child that has the run.
    """

    over_at: float | None = None
    starting: Lock = field(default_factory=Lock, init=False)
    child: "Child | None" = field(default=None, init=False)


@dataclass(eq=False)
class Child:
    """One child, from the order of its fork until its exit.

    Attributes:
        number: identifies the child in messages to and from the fork server.
        stream: the socket to the child.
        server: the fork server.
        frames: decodes messages of the child.
        unread: bytes of the child that arrived and were not decoded.
        lock: guards the flight, and keeps threads from writing to a closed stream.
        flight: the run of the child, if it has one.
        pid: known once the child is forked.
        is_watched: whether the listener watches the stream.
        is_gone: whether the child can be given no run any more.
        is_malformed: whether the child has sent a malformed message; its stream is not read then.
    """

    number: int
    stream: socket.socket
    server: ServerProcess
    frames: FrameReader = field(default_factory=FrameReader, init=False)
    unread: bytes = field(default=b"", init=False)
    lock: Lock = field(default_factory=Lock, init=False)
    flight: ChildRun | None = field(default=None, init=False)
    pid: int | None = field(default=None, init=False)
    is_watched: bool = field(default=False, init=False)
    is_gone: bool = field(default=False, init=False)
    is_malformed: bool = field(default=False, init=False)

    def start(self, flight: ChildRun, call: bytes) -> bool:
        """Send a run to the child; False if the child is gone, and then the run has not begun.

        The fork server gets the time limit first: then no event in the worker extends the limit.
        """
        with self.lock:
            if self.is_gone:
                return False
            self.flight = flight
            self.frames.largest = largest_message(flight.run.task)
            try:
                if flight.over_at is not None:
                    at = int(flight.over_at * 1_000_000) + 1
                    self.server.send(encode(LIMIT, self.number, at))
                self.stream.sendall(call)
            except OSError:
                # A part of the call has not arrived.
                self.flight = None
                return False
        flight.child = self
        return True

    def retire(self) -> ChildRun | None:
        """Give the child no run from now on; return its present run."""
        with self.lock:
            self.is_gone = True
            return self.flight

    def cancel(self, reason: str) -> None:
        """Send the child the reason why its run is to end, without waiting for room."""
        with self.lock:
            try:
                self.stream.send(encode_frame({"cancel": reason}), socket.MSG_DONTWAIT)
            except OSError:
                return

    def end(self) -> None:
        """Have the fork server end the child; a dead fork server has ended all its children."""
        try:
            self.server.send(encode(END, self.number))
        except OSError:
            return

    def close(self) -> None:
        """Close the stream."""
        with self.lock:
            self.stream.close()


class Children:
    """All children that have been ordered and have not exited."""

    def __init__(self, server: ServerProcess) -> None:
        """Begin without children of a fork server."""
        self._server = server
        self._all: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._numbers = count(1)
        self._lock = Lock()

    def start(self, flight: ChildRun, call: bytes) -> bool:
        """Give a run to a waiting child or to a new child; False if no child accepted the run.

        Raises:
            ConnectionError: the fork server has died.
            OSError: no stream to a child can be opened.
        """
        with self._lock:
            while self._waiting:
                if self._waiting.popleft().start(flight, call):
                    return True
            return self._fork().start(flight, call)

    def fork_ahead(self) -> None:
        """Order children for the next runs.

        Raises:
            OSError: as for `start`.
        """
        with self._lock:
            while len(self._waiting) < AHEAD:
                self._waiting.append(self._fork())

    def get(self, number: int) -> Child | None:
        """Return a child that has not exited."""
        return self._all.get(number)

    def remove(self, number: int) -> Child | None:
        """Remove and return a child that has exited."""
        return self._all.pop(number, None)

    def all(self) -> list[Child]:
        """Return all children."""
        return [*self._all.values()]

    def _fork(self) -> Child:
        ours, theirs = socket.socketpair()
        with theirs:
            child = Child(next(self._numbers), ours, self._server)
            self._all[child.number] = child
            try:
                self._server.send(encode(FORK, child.number), theirs.fileno())
            except OSError as error:
                self._all.pop(child.number, None)
                ours.close()
                raise ConnectionError(error) from error
        return child
