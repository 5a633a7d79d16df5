"""The link of a run in a child process: a socket to the worker."""

import signal
import socket
import threading
from contextlib import suppress
from typing import Any

from sempre.clock import Clock
from sempre.executors.link import Link
from sempre.executors.process.frames import FrameReader, encode_frame
from sempre.executors.process.reports import write_report
from sempre.ports.executor import Outcome, Progress

__all__ = ["ChildLink"]

# Seconds between two reports of progress.
PROGRESS_INTERVAL = 0.1


class ChildLink(Link):
    """Receives the call and requests to end, sends progress, log and the outcome.

    Attributes:
        call: the call that arrived, as `encode_call` made it.
    """

    def __init__(self, stream: socket.socket, clock: Clock) -> None:
        super().__init__()
        self.call: dict[str, Any] | None = None
        self._stream = stream
        self._clock = clock
        self._frames = FrameReader()
        # A signal handler may log while its own thread sends; small messages are sent whole.
        self._writing = threading.RLock()
        self._has_reported = False
        self._reading = threading.Lock()
        self._quiet_until = 0.0
        self._timer: threading.Timer | None = None
        self._handles_sigterm = False
        self._had_sigterm = False
        self._over_at: float | None = None

    def wait_for_call(self) -> dict[str, Any] | None:
        """Wait for the call; None if the worker closes the stream before."""
        while self.call is None and (raw := self._stream.recv(65_536)):
            self._read(raw)
        if self.call is not None:
            self._over_at = self.call.pop("over_at")
        return self.call

    def report_outcome(self, outcome: Outcome) -> None:
        """Send the outcome of the call; the worker measures how long the run took."""
        with self._writing:
            self._has_reported = True
            self._stream.sendall(encode_frame({"report": write_report(outcome)}))

    def write_log(self, entry: str, size: int) -> None:  # noqa: ARG002 - the worker keeps the size
        """Send an entry of the log at once: a child that crashes has sent all its entries."""
        if self.is_inherited:
            return
        with self._writing:
            if not self._has_reported:
                self._send_entry(entry)

    def report_progress(self, progress: Progress) -> None:
        """Send the progress of the run, ten times a second at most, and the last in any case."""
        with self._writing:
            self.progress = progress
            left = self._quiet_until - self._clock.elapsed()
            if left <= 0:
                self._send_progress()
            elif self._timer is None:
                self._timer = threading.Timer(left, self._send_progress_later)
                self._timer.daemon = True
                self._timer.start()

    @property
    def reason(self) -> str | None:
        """Why the run was asked to end. From the first query on, SIGTERM does not end the run."""
        with self._reading:
            if self._reason is None:
                self._read_reason()
            return self._reason

    def _read_reason(self) -> None:
        if not self._handles_sigterm and threading.current_thread() is threading.main_thread():
            self._handles_sigterm = True
            # A handler, not SIG_IGN, which programs that the job starts would inherit.
            signal.signal(signal.SIGTERM, self._note_sigterm)
        with suppress(OSError):
            raw = self._stream.recv(65_536, socket.MSG_DONTWAIT)
            if not raw:
                self._reason = "the worker is gone"
            self._read(raw)
        if self._reason is None and self._had_sigterm and self._is_over():
            # A job may block the worker's threads, so that the worker's message does not come.
            self._reason = "its time is over"

    def _note_sigterm(self, *_: object) -> None:
        self._had_sigterm = True

    def _is_over(self) -> bool:
        return self._over_at is not None and self._clock.elapsed() >= self._over_at

    def _read(self, raw: bytes) -> None:
        for message in self._frames.feed(raw):
            if "call" in message:
                self.call = message["call"]
            else:
                self._reason = str(message.get("cancel"))

    def _send_entry(self, entry: str) -> None:
        try:
            self._stream.sendall(encode_frame({"log": entry}))
        except OSError as error:
            # A worker that is gone is noticed elsewhere. An error without a number is a timeout of
            # the job, which a signal handler of the job raised.
            if error.errno is None:
                raise

    def _send_progress_later(self) -> None:
        with self._writing:
            self._timer = None
            self._send_progress()

    def _send_progress(self) -> None:
        self._quiet_until = self._clock.elapsed() + PROGRESS_INTERVAL
        if self.progress is not None:
            # A worker that is gone is noticed elsewhere.
            with suppress(OSError):
                parts = [self.progress.done, self.progress.total, self.progress.note]
                self._stream.sendall(encode_frame({"progress": parts}))
