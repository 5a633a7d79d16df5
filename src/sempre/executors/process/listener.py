"""The thread of a worker that reads the messages of its fork server and of its children."""

import logging
import os
import selectors
import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Thread, current_thread

from sempre.executors.process.child_runs import ChildRuns
from sempre.executors.process.children import Child, Children, ChildRun
from sempre.executors.process.frames import BrokenFrame
from sempre.executors.process.reports import LogEntry, malformed, read_message
from sempre.executors.process.server_messages import (
    EXITED,
    EXPIRED,
    FORK_FAILED,
    FORKED,
    MessageReader,
)
from sempre.executors.process.server_process import ServerProcess
from sempre.executors.process.system import describe_exit
from sempre.ports.executor import Ended, Outcome

__all__ = ["SERVER_DIED", "Listener"]

_LOG = logging.getLogger("sempre.executors")
SERVER_DIED = "the fork server of this worker died, and all child processes with it"


class Listener:
    """The only thread that watches and closes the streams.

    Messages of a child are foreign input: its job may have written to the stream. Any message
    there affects the run of that child alone.
    """

    def __init__(
        self,
        server: ServerProcess,
        children: Children,
        runs: ChildRuns,
        broken: Callable[[str], None] | None,
    ) -> None:
        """Make a listener; `broken` is called with the reason when no run can begin any more."""
        self._server = server
        self._children = children
        self._runs = runs
        self._broken = broken
        self._messages = MessageReader()
        self._selector = selectors.DefaultSelector()
        self._overdue: deque[ChildRun] = deque()
        self._wake, self._waker = socket.socketpair()
        self._stopped = False
        self._has_ended = False
        self._thread = Thread(target=self._listen, name="sempre-processes", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._selector.register(self._server.control, selectors.EVENT_READ, self._read_server)
        self._selector.register(self._wake, selectors.EVENT_READ, self._give_up_overdue)
        self._thread.start()

    def stop(self, patience: float) -> None:
        """End the fork server, all children and this thread."""
        self._stopped = True
        self._server.hang_up()
        if self._thread is not current_thread():
            self._thread.join(patience)

    def give_up(self, flight: ChildRun) -> None:
        """Have a run given up, from any thread, after all its messages are read."""
        self._overdue.append(flight)
        with suppress(OSError):
            self._waker.send(b"!", socket.MSG_DONTWAIT)

    def descriptors(self) -> list[int]:
        """Return the descriptors of the fork server, of the children, and of this thread."""
        if self._has_ended:
            return []
        streams = [child.stream for child in self._children.all()]
        sockets = (self._server.control, *streams, self._wake, self._waker)
        selector = getattr(self._selector, "fileno", None)
        found = [each.fileno() for each in sockets]
        return [*found, selector()] if selector else found

    def _listen(self) -> None:
        while self._server.is_running:
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:  # noqa: BLE001 - one run must not end the thread of all runs
                    _LOG.exception("a message of a child or of the fork server could not be read")
        for child in self._children.all():
            self._close(child)
        self._has_ended = True
        self._selector.close()
        self._wake.close()
        self._waker.close()

    # The fork server

    def _read_server(self) -> None:
        raw = _receive(self._server.control) if self._server.is_running else None
        if raw is None:
            return
        if not raw:
            self._lose_server()
        for kind, number, detail in self._messages.feed(raw):
            self._obey(kind, number, detail)

    def _obey(self, kind: int, number: int, detail: int) -> None:
        if kind == FORKED:
            self._watch(number, detail)
        elif kind == EXITED:
            self._end(number, Outcome(Ended.CRASHED, error=describe_exit(detail)))
        elif kind == EXPIRED:
            child = self._children.get(number)
            if child is not None and child.flight is not None:
                self._runs.expire(child.flight)
        elif kind == FORK_FAILED:
            error = f"it could not begin: {os.strerror(detail)}"
            self._end(number, Outcome(Ended.FAILED, error=error))

    def _watch(self, number: int, pid: int) -> None:
        child = self._children.get(number)
        if child is not None:
            child.pid = pid
            child.is_watched = True
            self._selector.register(
                child.stream, selectors.EVENT_READ, lambda: self._read_child(child)
            )

    def _lose_server(self) -> None:
        self._selector.unregister(self._server.control)
        self._server.reap()
        lost = self._children.all()
        for child in lost:
            # Retire first: no thread may give another run to a waiting child.
            child.retire()
        if not self._stopped:
            runs = sum(1 for child in lost if child.flight is not None)
            _LOG.critical("%s, %d of them in mid run; restart the worker", SERVER_DIED, runs)
            if self._broken is not None:
                self._broken(SERVER_DIED)
        for child in lost:
            if child.pid is not None:
                # The child died with the fork server; this ends the processes that it started.
                with suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)
            self._end(child.number, Outcome(Ended.CRASHED, error=SERVER_DIED))

    # Children

    def _read_child(self, child: Child) -> None:
        raw = _receive(child.stream)
        if raw == b"":
            # The child exits, or its job has closed the stream; EXITED will follow.
            self._unwatch(child)
            child.retire()
        elif raw is not None:
            child.unread += raw
            if (flight := child.flight) is not None and self._runs.is_over(flight):
                # EXPIRED, if the fork server has sent it, came before these bytes of the child.
                self._read_server()
            self._decode(child)

    def _decode_all(self, child: Child, flight: ChildRun) -> None:
        """Decode all that has arrived from a child, until the outcome of its run is reported."""
        self._decode(child)
        while not flight.is_reported and (raw := _receive(child.stream)):
            child.unread += raw
            self._decode(child)

    def _decode(self, child: Child) -> None:
        flight, raw, child.unread = child.flight, child.unread, b""
        if flight is None or child.is_malformed:
            return
        try:
            for message in child.frames.feed(raw):
                report = read_message(message)
                if isinstance(report, Outcome):
                    self._close(child)
                    self._runs.end(flight, report)
                    return
                if isinstance(report, LogEntry):
                    flight.current.link.write_log(report, flight.current.log_rule.size)
                else:
                    flight.current.link.report_progress(report)
        except BrokenFrame as error:
            child.is_malformed = True
            self._unwatch(child)
            reason = "its process sent a malformed report"
            self._runs.ask_to_end(flight, malformed(error), reason)

    def _end(self, number: int, outcome: Outcome) -> None:
        """End the run of a child that has exited: by its own report, if one has arrived."""
        child = self._children.remove(number)
        if child is None:
            return
        flight = child.retire()
        if flight is not None:
            self._decode_all(child, flight)
        self._close(child)
        if flight is not None:
            self._runs.end(flight, outcome)

    def _give_up_overdue(self) -> None:
        _receive(self._wake)
        while self._overdue:
            flight = self._overdue.popleft()
            if (child := flight.child) is not None:
                # This thread may be late itself: messages that have arrived meanwhile count.
                self._read_server()
                self._decode_all(child, flight)
            self._runs.give_up_overdue(flight)

    def _unwatch(self, child: Child) -> None:
        if child.is_watched:
            child.is_watched = False
            self._selector.unregister(child.stream)

    def _close(self, child: Child) -> None:
        self._unwatch(child)
        child.close()


def _receive(stream: socket.socket) -> bytes | None:
    """Return the arrived bytes; empty if the other end is closed, None if no byte came."""
    try:
        return stream.recv(65_536, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""
