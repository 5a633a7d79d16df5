"""The pulse: a worker's heart in a process of its own.

A job that holds the interpreter for minutes keeps every thread of its process from running, also
the one that shows life. So a supervised worker forks a small process that does nothing else. It
ends its session when the worker is gone, so that others take its work back at once and need not
wait for the lease.

A worker may be silent for as long as the longest of its runs may take: a job holds the interpreter.
One that is silent for longer is dead for all practical purposes, and is killed, with a line in the
log. Whatever a worker says is a sign of life, also that it wants a session while the store is down.
For one that was stopped by a signal or a debugger nobody shows life meanwhile.
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
from sempre.engine.core import Engine, Told
from sempre.engine.heartbeat_line import Line, WorkerEnd, new_line
from sempre.engine.sessions import Heart
from sempre.errors import SempreError, StoreError, StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.executor import Run
from sempre.ports.messages import Tick

__all__ = ["DistantHeart", "PulseLost", "fork_pulse", "silence_of"]

logger = logging.getLogger("sempre")
REGISTER = b"register"
RETIRE = b"retire"
HEARD = b"heard"
# How long a worker waits for an answer of its pulse before it believes it dead.
PATIENCE = 60.0
LISTENING = 1.0


def fork_pulse(make_heart: Callable[[], Heart], *, clock: Clock, beat: float) -> WorkerEnd:
    """Fork a pulse and return the worker's end of the line; call it before any thread exists.

    The heart is made in the new process, with connections of its own, when the worker first wants a
    session: a store that is down then ends nothing.
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
        _Pulse(make_heart, Line(worker, theirs, memory), clock, beat).beat_until_left()
        code = 0
    except BaseException:  # noqa: BLE001 - the child must not return into its parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def silence_of(held: Iterable[Run], settings: Settings) -> float:
    """Return for how long one of these runs may hold the interpreter, and with it its process."""
    limits = {run.timeout for run in held if run.timeout}
    longest = max((limit.total_seconds() for limit in limits), default=0.0)
    return longest + 2 * settings.lease.total_seconds()


class DistantHeart:
    """The worker's side: the same as a `Heart`, kept alive by the pulse."""

    def __init__(self, engine: Engine, line: WorkerEnd) -> None:
        """Speak to a pulse that was forked before."""
        self._engine = engine
        self._line = line
        self._sending = Lock()
        self._allowed = 0.0
        self._told_at = 0.0
        self.session = ""
        self.tick = Tick(alive=False)
        self.told: Told | None = None
        self.answered = False
        self.heard = False
        self.error = ""

    def allow(self, seconds: float, *, at_most: bool = False) -> None:
        """Let the pulse bear so long a silence: a run may take that long, or none longer."""
        if seconds > self._allowed or at_most:
            self._allowed = seconds
            with suppress(OSError):
                self._send(HEARD + b" %d" % int(seconds))

    def _send(self, message: bytes) -> None:
        with self._sending:
            self._line.socket.send_bytes(message)

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it."""
        lease = self._engine.settings.lease.total_seconds()
        # The clock first: a job may hold the interpreter for any time between the two, and an
        # instant that was read before would be old by then.
        now = self._engine.clock.elapsed()
        return now - self._line.renewed_at >= lease

    def register(self) -> None:
        """Begin a session; StoreUnavailable or StoreRefused as `Heart.register`."""
        answer = self._ask(REGISTER, "session")
        if "why" in answer:
            kinds = {"gone": StoreGone, "refused": StoreRefused}
            raise kinds.get(str(answer.get("why")), StoreUnavailable)(str(answer["error"]))
        self.session = str(answer["session"])
        self._told_at = float(answer["alive_at"])

    @property
    def rest(self) -> float:
        """How long to rest before the next beat: the waiting is in `beat` itself."""
        return 0.0

    def beat(self) -> Tick:
        """Wait a little for the next beat of the pulse and return the last thing it heard.

        All that the pulse has said is taken in before anything is judged.
        """
        self.heard, wait = False, LISTENING
        try:
            while self._line.socket.poll(wait):
                self._hear(json.loads(self._line.socket.recv_bytes()))
                self.heard, wait = True, 0.0
        except (EOFError, OSError):
            raise PulseLost("the process that shows life for this worker has ended") from None
        if not self.heard:
            self.tick, self.answered, self.error = Tick(alive=not self.is_lost), False, ""
        return self.tick

    @property
    def asked_at(self) -> float:
        """When the pulse asked the store for what was last heard, by the steady clock."""
        return self._told_at

    def retire(self) -> None:
        """End the session and the pulse."""
        try:
            self._send(RETIRE)
            while self._line.socket.poll(PATIENCE):
                self._line.socket.recv_bytes()
        except (EOFError, OSError):
            pass
        self._line.forget_renewal()

    def _ask(self, question: bytes, wanted: str) -> Mapping[str, Any]:
        try:
            self._send(question)
            while self._line.socket.poll(PATIENCE):
                answer: dict[str, Any] = json.loads(self._line.socket.recv_bytes())
                if wanted in answer or "why" in answer:
                    return answer
        except (EOFError, OSError):
            pass
        raise PulseLost("the process that shows life for this worker does not answer")

    def _hear(self, said: Mapping[str, Any]) -> None:
        if "now" in said:
            self._engine.time.hear(datetime.fromisoformat(said["now"]))
        self._told_at = float(said["alive_at"])
        self.answered, self.error = bool(said.get("answered")), str(said.get("error", ""))
        if "told" in said:
            now, asked_at, answered_at = said["told"]
            self.told = Told(datetime.fromisoformat(now), float(asked_at), float(answered_at))
        self.tick = Tick(
            alive=bool(said.get("alive")),
            next_due_at=_instant(said.get("next_due_at")),
            pass_due_at=_instant(said.get("pass_due_at")),
            cancelled=tuple(said.get("cancelled", ())),
            held=frozenset(said.get("held", ())),
            has_expired=bool(said.get("has_expired")),
            store=str(said.get("store", "")),
        )


class PulseLost(SempreError):
    """The pulse is gone; the worker cannot show life any more and must end."""


class _Pulse:
    """The side of the pulse: beats, and listens to its worker in between."""

    def __init__(
        self, make_heart: Callable[[], Heart], line: Line, clock: Clock, beat: float
    ) -> None:
        self._make_heart = make_heart
        self._heart: Heart | None = None
        self._line = line
        self._clock = clock
        self._beat = beat
        self._allowed: float | None = None
        # In seconds of listening: while this process waits for the store, or is frozen, it hears
        # nothing, and the worker is not to blame.
        self._silent_for = 0.0

    def beat_until_left(self) -> None:
        """Beat until the worker says so, is gone or is silent for too long; end the session."""
        try:
            while self._listen() and not self._is_silent():
                if self._heart is not None and not _is_stopped(self._line.worker):
                    self._heart.beat()
                    self._line.note_renewal(self._heart.asked_at)
                    self._line.send_if_room(json.dumps(_told(self._heart)).encode())
        except (EOFError, OSError):
            pass
        if self._is_silent() and self._line.has_worker:
            self._kill()
        # A store that is down cannot be told; the lease ends the session.
        with suppress(StoreError):
            if self._heart is not None:
                self._heart.retire()

    def _listen(self) -> bool:
        """Hear what the worker says until the next beat; False if it is to be the last."""
        until = self._clock.elapsed() + self._beat
        while self._line.heard_within(max(0.0, until - self._clock.elapsed())):
            said = self._line.receive()
            self._silent_for = 0.0
            if said == RETIRE:
                return False
            if said == REGISTER:
                self._line.send(json.dumps(self._register()).encode())
                return True
            self._allowed = float(said.split()[1])
        self._silent_for += self._beat
        return self._line.has_worker

    def _register(self) -> dict[str, object]:
        try:
            heart = self._heart or self._make_heart()
            heart.register()
        except SempreError as error:
            why = "gone" if isinstance(error, StoreGone) else "refused"
            refused = isinstance(error, StoreRefused)
            return {"error": str(error), "why": why if refused else "unavailable"}
        self._heart = heart
        self._line.note_renewal(heart.asked_at)
        return {"session": heart.session, "alive_at": heart.asked_at}

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
    """Tell whether a process was stopped by a signal, where the system says so."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] in ("T", "t")


def _told(heart: Heart) -> dict[str, object]:
    tick, told = heart.tick, heart.told
    return {
        "answered": heart.answered,
        "error": heart.error,
        "alive": tick.alive,
        "alive_at": heart.asked_at,
        "now": heart.now.isoformat(),
        "next_due_at": tick.next_due_at.isoformat() if tick.next_due_at else None,
        "pass_due_at": tick.pass_due_at.isoformat() if tick.pass_due_at else None,
        "cancelled": tick.cancelled,
        "held": sorted(tick.held),
        "has_expired": tick.has_expired,
        "store": tick.store,
        **({"told": (told.now.isoformat(), told.asked_at, told.answered_at)} if told else {}),
    }


def _instant(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
