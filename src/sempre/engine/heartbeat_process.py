"""The heartbeat process: sends the heartbeat of a supervised worker, beside the worker.

A job that holds the interpreter for minutes keeps every thread of its process from running, also
the one that sends the heartbeat. So a supervised worker forks a small process that does nothing
else. The heartbeat process ends the session when the worker is gone, so that other workers rescue
its executions at once and need not wait for the lease.

A worker may be silent for as long as the longest of its runs may take: a job holds the interpreter.
A worker that is silent for longer is dead for all practical purposes, and is killed, with a line in
the log. Every message of a worker is a sign of life, also the request for a session while the store
is down. While a worker is stopped by a signal or a debugger, its heartbeat process sends nothing.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from sempre.clock import Clock
from sempre.config import Settings
from sempre.engine.core import ClockReading, Engine
from sempre.engine.heartbeat import LocalHeartbeat
from sempre.engine.heartbeat_line import Line, WorkerEnd, new_line
from sempre.errors import SempreError, StoreError, StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.executor import Run
from sempre.ports.messages import Tick

__all__ = ["HeartbeatLost", "RemoteHeartbeat", "fork_heartbeat_process", "longest_silence"]

logger = logging.getLogger("sempre")
REGISTER = b"register"
RETIRE = b"retire"
ALLOW = b"allow"
# Seconds that a worker waits for an answer before it takes its heartbeat process for dead.
PATIENCE = 60.0
LISTENING = 1.0


class HeartbeatLost(SempreError):
    """The heartbeat process is gone; its worker cannot show life any more and must end."""


def fork_heartbeat_process(
    make_heartbeat: Callable[[], LocalHeartbeat], *, clock: Clock, beat: float
) -> WorkerEnd:
    """Fork a heartbeat process and return the worker's end of the line; call before any thread.

    The heartbeat is made in the new process, with connections of its own, when the worker first
    asks for a session: a store that is down at the fork ends nothing.
    """
    ours, theirs, memory = new_line()
    worker = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork():
        theirs.close()
        return WorkerEnd(ours, memory)
    ours.close()
    code = 1
    try:
        _HeartbeatProcess(make_heartbeat, Line(worker, theirs, memory), clock, beat).run()
        code = 0
    except BaseException:  # noqa: BLE001 - the child must not return into its parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def longest_silence(held: Iterable[Run], settings: Settings) -> float:
    """Return for how long one of these runs may hold the interpreter, and with it its process."""
    limits = {run.timeout for run in held if run.timeout}
    longest = max((limit.total_seconds() for limit in limits), default=0.0)
    return longest + 2 * settings.lease.total_seconds()


class RemoteHeartbeat:
    """A heartbeat that the heartbeat process sends for this worker; see `Heartbeat`."""

    def __init__(self, engine: Engine, line: WorkerEnd) -> None:
        """Speak to a heartbeat process that was forked before."""
        self._engine = engine
        self._line = line
        self._sending = Lock()
        self._allowed = 0.0
        self.session = ""
        self.tick = Tick(alive=False)
        self.clock_reading: ClockReading | None = None
        self.answered = False
        self.error = ""
        self.has_news = False
        self.asked_at = 0.0

    def allow_silence(self, seconds: float, *, at_most: bool = False) -> None:
        """Let the heartbeat process bear so long a silence; see `Heartbeat.allow_silence`."""
        if seconds > self._allowed or at_most:
            self._allowed = seconds
            with suppress(OSError):
                self._send(ALLOW + b" %d" % int(seconds))

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it."""
        lease = self._engine.settings.lease.total_seconds()
        # The clock first: a job may hold the interpreter for any time between the two reads, and
        # a renewal that was read before would be old by then.
        now = self._engine.clock.elapsed()
        return now - self._line.renewed_at >= lease

    def register(self) -> None:
        """Begin a session; StoreUnavailable or StoreRefused as `Heartbeat.register`."""
        answer = self._ask(REGISTER, "session")
        if "why" in answer:
            kinds = {"gone": StoreGone, "refused": StoreRefused}
            raise kinds.get(str(answer.get("why")), StoreUnavailable)(str(answer["error"]))
        self.session = str(answer["session"])
        self.asked_at = float(answer["asked_at"])

    @property
    def rest(self) -> float:
        """Seconds to rest before the next beat: `beat` itself waits."""
        return 0.0

    def beat(self) -> Tick:
        """Wait a little for the next beat of the heartbeat process; return its last answer.

        Every message that has arrived is read before the worker acts on one.
        """
        self.has_news, wait = False, LISTENING
        try:
            while self._line.socket.poll(wait):
                self._note(json.loads(self._line.socket.recv_bytes()))
                self.has_news, wait = True, 0.0
        except (EOFError, OSError):
            raise HeartbeatLost("the heartbeat process of this worker has ended") from None
        if not self.has_news:
            self.tick, self.answered, self.error = Tick(alive=not self.is_lost), False, ""
        return self.tick

    def retire(self) -> None:
        """End the session and the heartbeat process."""
        try:
            self._send(RETIRE)
            while self._line.socket.poll(PATIENCE):
                self._line.socket.recv_bytes()
        except (EOFError, OSError):
            pass
        self._line.forget_renewal()

    def _send(self, message: bytes) -> None:
        with self._sending:
            self._line.socket.send_bytes(message)

    def _ask(self, question: bytes, wanted: str) -> Mapping[str, Any]:
        try:
            self._send(question)
            while self._line.socket.poll(PATIENCE):
                answer: dict[str, Any] = json.loads(self._line.socket.recv_bytes())
                if wanted in answer or "why" in answer:
                    return answer
        except (EOFError, OSError):
            pass
        raise HeartbeatLost("the heartbeat process of this worker does not answer")

    def _note(self, message: Mapping[str, Any]) -> None:
        if "now" in message:
            self._engine.time.note(datetime.fromisoformat(message["now"]))
        self.asked_at = float(message["asked_at"])
        self.answered, self.error = bool(message.get("answered")), str(message.get("error", ""))
        if "clock_reading" in message:
            now, asked_at, answered_at = message["clock_reading"]
            instant = datetime.fromisoformat(now)
            self.clock_reading = ClockReading(instant, float(asked_at), float(answered_at))
        self.tick = Tick(
            alive=bool(message.get("alive")),
            next_due_at=_instant(message.get("next_due_at")),
            pass_due_at=_instant(message.get("pass_due_at")),
            cancelled=tuple(message.get("cancelled", ())),
            held=frozenset(message.get("held", ())),
            has_expired=bool(message.get("has_expired")),
            store=str(message.get("store", "")),
            drain=bool(message.get("drain")),
        )


class _HeartbeatProcess:
    """Beats, and listens to its worker in between."""

    def __init__(
        self, make_heartbeat: Callable[[], LocalHeartbeat], line: Line, clock: Clock, beat: float
    ) -> None:
        self._make_heartbeat = make_heartbeat
        self._heartbeat: LocalHeartbeat | None = None
        self._line = line
        self._clock = clock
        self._beat = beat
        self._allowed: float | None = None
        # In seconds of listening: while this process waits for the store, or is frozen, it receives
        # nothing, and the worker is not to blame.
        self._silent_for = 0.0

    def run(self) -> None:
        """Beat until the worker retires, is gone or is silent for too long; end the session."""
        try:
            while self._listen() and not self._is_silent():
                if self._heartbeat is not None and not _is_stopped(self._line.worker):
                    self._heartbeat.beat()
                    self._line.note_renewal(self._heartbeat.asked_at)
                    self._line.send_if_room(json.dumps(_message(self._heartbeat)).encode())
        except (EOFError, OSError):
            pass
        if self._is_silent() and self._line.has_worker:
            self._kill()
        # If the store is down, the end of the lease ends the session.
        with suppress(StoreError):
            if self._heartbeat is not None:
                self._heartbeat.retire()

    def _listen(self) -> bool:
        """Read messages of the worker until the next beat; False if there is to be none."""
        until = self._clock.elapsed() + self._beat
        while self._line.wait_for_message(max(0.0, until - self._clock.elapsed())):
            message = self._line.receive()
            self._silent_for = 0.0
            if message == RETIRE:
                return False
            if message == REGISTER:
                self._line.send(json.dumps(self._register()).encode())
                return True
            self._allowed = float(message.split()[1])
        self._silent_for += self._beat
        return self._line.has_worker

    def _register(self) -> dict[str, object]:
        try:
            heartbeat = self._heartbeat or self._make_heartbeat()
            heartbeat.register()
        except SempreError as error:
            why = "gone" if isinstance(error, StoreGone) else "refused"
            refused = isinstance(error, StoreRefused)
            return {"error": str(error), "why": why if refused else "unavailable"}
        self._heartbeat = heartbeat
        self._line.note_renewal(heartbeat.asked_at)
        return {"session": heartbeat.session, "asked_at": heartbeat.asked_at}

    def _is_silent(self) -> bool:
        return self._allowed is not None and self._silent_for > self._allowed

    def _kill(self) -> None:
        logger.error(
            "worker process %d is killed: it gave no sign of life for %.0f s, and its runs may "
            "hold it for %.0f s at most",
            self._line.worker,
            self._silent_for,
            self._allowed,
        )
        os.kill(self._line.worker, signal.SIGKILL)


def _is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal, where the system reports that."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] in ("T", "t")


def _message(heartbeat: LocalHeartbeat) -> dict[str, object]:
    """Return what the worker has to know of a beat, as JSON."""
    tick, reading = heartbeat.tick, heartbeat.clock_reading
    message: dict[str, object] = {
        "answered": heartbeat.answered,
        "error": heartbeat.error,
        "alive": tick.alive,
        "asked_at": heartbeat.asked_at,
        "now": heartbeat.now.isoformat(),
        "next_due_at": tick.next_due_at.isoformat() if tick.next_due_at else None,
        "pass_due_at": tick.pass_due_at.isoformat() if tick.pass_due_at else None,
        "cancelled": tick.cancelled,
        "held": sorted(tick.held),
        "has_expired": tick.has_expired,
        "store": tick.store,
        "drain": tick.drain,
    }
    if reading is not None:
        message["clock_reading"] = reading.now.isoformat(), reading.asked_at, reading.answered_at
    return message


def _instant(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
