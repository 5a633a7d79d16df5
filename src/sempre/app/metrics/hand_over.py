"""Hand-over of counts from worker processes to the metrics process, by datagrams.

Every worker process sends what it has counted in the last second, and its state. The metrics
process adds the counts up, so that the totals survive a worker process that crashes: a sum that
drops would look to Prometheus like a restart, and be counted twice. A send never waits. What cannot
be sent, because the metrics process is slow or being replaced, is sent with the next second's.
"""

import json
import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from threading import Event, Lock, Thread
from typing import Any

from sempre.app.metrics.process_reports import ProcessReport, WorkerProbe
from sempre.clock import Clock
from sempre.telemetry.tally import Change, Tally

__all__ = ["Channel", "Received", "Sender", "is_alive"]

logger = logging.getLogger("sempre")
EVERY = 1.0
# Series of one datagram: with the longest names less than 64 KiB.
AT_ONCE = 20
LARGEST = 1 << 20
# In bytes, of each end. Systems other than Linux accept no datagram above their small default.
BUFFER = 1 << 18


class Channel:
    """Both ends of the datagrams; made before worker processes are forked."""

    def __init__(self) -> None:
        """Open both ends."""
        self.receiving, self.sending = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self.receiving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.sending.settimeout(0.0)

    def close(self) -> None:
        """Close both ends."""
        self.receiving.close()
        self.sending.close()


class Sender:
    """Sends the counts and the state of this worker process, once in a second."""

    def __init__(self, sending: socket.socket, tally: Tally, probe: WorkerProbe) -> None:
        """Send from a tally, which is emptied, and from a probe."""
        self._sending = sending
        self._tally = tally
        self._probe = probe
        self._ended = Event()
        self._thread = Thread(target=self._send_until_ended, name="sempre-counts", daemon=True)

    def start(self) -> None:
        """Send in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Send the last counts, and that this process ends."""
        self._ended.set()
        self._thread.join()
        self.send(is_last=True)

    def send(self, *, is_last: bool = False) -> None:
        """Send what was counted since the last time; never waits."""
        report = replace(self._probe.report(), is_last=is_last)
        changes = self._tally.take()
        for place in range(0, max(1, len(changes)), AT_ONCE):
            some = changes[place : place + AT_ONCE]
            text = json.dumps({"report": asdict(report), "changes": some}, ensure_ascii=False)
            try:
                self._sending.send(text.encode("utf-8", "replace"))
            except OSError:
                self._tally.add(changes[place:])
                return

    def _send_until_ended(self) -> None:
        while not self._ended.wait(EVERY):
            try:
                self.send()
            except Exception:
                logger.exception("counts of this worker process were not sent")


class Received:
    """What worker processes have sent: the totals, and the last report of each process."""

    def __init__(self, clock: Clock) -> None:
        """Begin without a process."""
        self.tally = Tally()
        self._clock = clock
        self._lock = Lock()
        # By pid: the number of the process, its report, and when it came.
        self._known: dict[int, tuple[int, ProcessReport, float]] = {}

    def receive_from(self, receiving: socket.socket) -> None:
        """Take datagrams until the socket is closed."""
        with suppress(OSError):
            while datagram := receiving.recv(LARGEST):
                self.add(datagram)

    def add(self, datagram: bytes) -> None:
        """Add a datagram; one that cannot be read is left out, and logged."""
        try:
            message: dict[str, Any] = json.loads(datagram)
            report = ProcessReport(**message["report"])
            changes: Sequence[Change] = message["changes"]
        except (ValueError, TypeError, KeyError):
            logger.warning("counts of a worker process cannot be read")
            return
        self.tally.add(changes)
        with self._lock:
            if report.is_last:
                self._known.pop(report.pid, None)
                return
            number = self._known[report.pid][0] if report.pid in self._known else self._free()
            self._known[report.pid] = number, report, self._clock.elapsed()

    def reports(self) -> Iterator[tuple[int, ProcessReport, float]]:
        """Yield number, last report and its age in seconds of each process that is alive."""
        with self._lock:
            for pid in [each for each in self._known if not is_alive(each)]:
                del self._known[pid]
            now, known = self._clock.elapsed(), sorted(self._known.values(), key=lambda e: e[0])
        for number, report, at in known:
            yield number, report, now - at

    def _free(self) -> int:
        """Return the lowest number that no living process has."""
        taken = {number for pid, (number, _, _) in self._known.items() if is_alive(pid)}
        return next(number for number in range(len(taken) + 1) if number not in taken)


def is_alive(pid: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
