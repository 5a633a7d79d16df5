"""The thread of a worker that hears its nurseries and its children, and how their runs ended."""

import logging
import os
import selectors
import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Thread, current_thread

from sempre.executors.process.children import Child, ChildFlight, Children
from sempre.executors.process.frames import BrokenFrame
from sempre.executors.process.nurseries import Handle, Nurseries
from sempre.executors.process.orders import BORN, EXPIRED, GONE, READY, UNBORN
from sempre.executors.process.reports import malformed, read_message
from sempre.executors.process.system import ending
from sempre.executors.process.verdicts import Verdicts
from sempre.ports.executor import Ended, Outcome

__all__ = ["BOTH_DIED", "DIED", "Listener"]

_LOG = logging.getLogger("sempre.executors")
DIED = "the nursery of child processes died, and its process with it"
BOTH_DIED = "both nurseries of this worker died; restart it"


class Listener:
    """One thread, which alone watches and closes the streams.

    What a child says is foreign input: its job may have written to its stream. Whatever that is,
    it decides about the run of that child alone.
    """

    def __init__(
        self,
        nurseries: Nurseries,
        children: Children,
        verdicts: Verdicts,
        broken: Callable[[str], None] | None,
    ) -> None:
        """Make it; `broken` is called with the reason when no run can begin any more."""
        self._nurseries = nurseries
        self._children = children
        self._verdicts = verdicts
        self._broken = broken
        self._selector = selectors.DefaultSelector()
        self._overdue: deque[ChildFlight] = deque()
        self._wake, self._waker = socket.socketpair()
        self._stopped = False
        self._has_ended = False
        self._thread = Thread(target=self._listen, name="sempre-processes", daemon=True)

    def start(self, handle: Handle) -> None:
        """Begin to listen to the first nursery, and ask it for a spare one."""
        self._watch(handle)
        self._selector.register(self._wake, selectors.EVENT_READ, self._give_up_overdue)
        self._breed()
        self._thread.start()

    def stop(self, patience: float) -> None:
        """End the nurseries, and with them their children and this thread."""
        self._stopped = True
        for handle in self._nurseries.all():
            handle.hang_up()
        if self._thread is not current_thread():
            self._thread.join(patience)

    def call(self, flight: ChildFlight) -> None:
        """Have a run given up, from any thread, after all that was said of it is heard."""
        self._overdue.append(flight)
        with suppress(OSError):
            self._waker.send(b"!", socket.MSG_DONTWAIT)

    def descriptors(self) -> list[int]:
        """Return the descriptors that lead to nurseries and children, and those of this thread."""
        if self._has_ended:
            return []
        streams = [handle.control for handle in self._nurseries.all()]
        streams += [child.stream for child in self._children.all()]
        found = [each.fileno() for each in (*streams, self._wake, self._waker)]
        selector = getattr(self._selector, "fileno", None)
        return [*found, selector()] if selector else found

    def _listen(self) -> None:
        while self._nurseries.all():
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:  # noqa: BLE001 - one run must not deafen us to the others
                    _LOG.exception("a message of a child or nursery could not be read")
        for child in self._children.all():
            self._close(child)
        self._has_ended = True
        self._selector.close()
        self._wake.close()
        self._waker.close()

    def _watch(self, handle: Handle) -> None:
        self._selector.register(
            handle.control, selectors.EVENT_READ, lambda: self._hear_nursery(handle)
        )

    def _breed(self) -> None:
        handle = None if self._stopped else self._nurseries.breed()
        if handle is not None:
            self._watch(handle)
            if self._stopped:
                handle.hang_up()

    # Nurseries

    def _hear_nursery(self, handle: Handle) -> None:
        if handle not in self._nurseries.all():
            # It was lost a moment ago.
            return
        raw = _received(handle.control)
        if raw is None:
            return
        if not raw:
            self._lose(handle)
        for what, number, detail in handle.orders.feed(raw):
            self._heed(handle, what, number, detail)

    def _heed(self, handle: Handle, what: int, number: int, detail: int) -> None:
        if what == BORN:
            self._welcome(number, detail)
        elif what == GONE:
            self._bury(number, Outcome(Ended.CRASHED, error=ending(detail)))
        elif what == EXPIRED:
            child = self._children.get(number)
            if child is not None and child.flight is not None:
                self._verdicts.expire(child.flight)
        elif what == UNBORN:
            error = f"it could not begin: {os.strerror(detail)}"
            self._bury(number, Outcome(Ended.FAILED, error=error))
        elif what == READY:
            handle.is_ready = True

    def _welcome(self, number: int, pid: int) -> None:
        child = self._children.get(number)
        if child is not None:
            child.pid = pid
            child.is_watched = True
            self._selector.register(
                child.stream, selectors.EVENT_READ, lambda: self._hear_child(child)
            )
        if self._nurseries.spare is None:
            self._breed()

    def _lose(self, handle: Handle) -> None:
        self._selector.unregister(handle.control)
        self._nurseries.bury(handle)
        lost = self._children.of(handle)
        for child in lost:
            # Before anybody hears of it, and gives one that waits a run.
            child.leave()
        if not self._stopped:
            _LOG.error("a nursery of child processes died, and %d runs with it", _runs(lost))
            if self._nurseries.active is None:
                _LOG.critical(BOTH_DIED)
                if self._broken is not None:
                    self._broken(BOTH_DIED)
        for child in lost:
            if child.pid is not None:
                # The child died with it; this is for what the child had started.
                with suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)
            self._bury(child.number, Outcome(Ended.CRASHED, error=DIED))
        if handle.is_ready:
            # One that never came to life is asked for again with the next run, not at once.
            self._breed()

    # Children

    def _hear_child(self, child: Child) -> None:
        raw = _received(child.stream)
        if raw == b"":
            # It ends, or has closed what it does not know; the nursery will tell.
            self._unwatch(child)
            child.leave()
        elif raw is not None:
            child.unread += raw
            if (flight := child.flight) is not None and self._verdicts.is_over(flight):
                # The nursery had said so before the child could say anything after its time.
                self._hear_nursery(child.nursery)
            self._read(child)

    def _read_all(self, child: Child, flight: ChildFlight) -> None:
        """Read all that has arrived of a child, until the end of its run is told."""
        self._read(child)
        while not flight.is_told and (raw := _received(child.stream)):
            child.unread += raw
            self._read(child)

    def _read(self, child: Child) -> None:
        flight, raw, child.unread = child.flight, child.unread, b""
        if flight is None or child.is_malformed:
            return
        try:
            for message in child.frames.feed(raw):
                said = read_message(message)
                if isinstance(said, Outcome):
                    self._close(child)
                    self._verdicts.end(flight, said)
                    return
                flight.current.link.tell(said)
        except BrokenFrame as error:
            child.is_malformed = True
            self._unwatch(child)
            self._verdicts.ask(flight, malformed(error), "its process sent a malformed report")

    def _bury(self, number: int, report: Outcome) -> None:
        """End the run of a child that is gone, by its own last words if it had any."""
        child = self._children.bury(number)
        if child is None:
            return
        flight = child.leave()
        if flight is not None:
            self._read_all(child, flight)
        self._close(child)
        if flight is not None:
            self._verdicts.end(flight, report)

    def _give_up_overdue(self) -> None:
        _received(self._wake)
        while self._overdue:
            flight = self._overdue.popleft()
            if (child := flight.child) is not None:
                # It may be us who are late: what was said meanwhile counts.
                self._hear_nursery(child.nursery)
                self._read_all(child, flight)
            self._verdicts.give_up(flight)

    def _unwatch(self, child: Child) -> None:
        if child.is_watched:
            child.is_watched = False
            self._selector.unregister(child.stream)

    def _close(self, child: Child) -> None:
        self._unwatch(child)
        child.close()


def _runs(children: list[Child]) -> int:
    return sum(1 for child in children if child.flight is not None)


def _received(stream: socket.socket) -> bytes | None:
    """Return what has arrived: nothing if the other side is closed, None if there is no more."""
    try:
        return stream.recv(65_536, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""
