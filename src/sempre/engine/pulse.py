"""The pulse: a worker's heart in a process of its own.

A job that holds the interpreter for minutes keeps every thread of its process from running, also
the one that shows life. So a supervised worker forks a small process that does nothing else. It
ends its session when the worker is gone, so that others take its work back at once and need not
wait for the lease.

A worker may be silent for as long as the longest of its runs may take: a job holds the interpreter.
One that is silent for longer is dead for all practical purposes, and is killed. For one that was
stopped by a signal or a debugger nobody shows life meanwhile.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Lock
from typing import Any

from sempre.config import Settings
from sempre.engine.claiming import Started
from sempre.engine.core import Engine, Told
from sempre.engine.sessions import Heart
from sempre.errors import SempreError, StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.messages import Tick

__all__ = ["DistantHeart", "PulseLost", "fork_pulse", "silence_of"]

REGISTER = b"register"
RETIRE = b"retire"
HEARD = b"heard"
# How long a worker waits for an answer of its pulse before it believes it dead.
PATIENCE = 60.0
LISTENING = 1.0


def fork_pulse(make_heart: Callable[[], Heart], *, beat: float) -> Connection:
    """Fork a pulse and return the worker's end of the line; call it before any thread exists.

    The heart is made in the new process, with connections of its own.
    """
    ours, theirs = Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork():
        theirs.close()
        return ours
    ours.close()
    code = 1
    try:
        _Pulse(make_heart(), theirs, beat).beat_until_left()
        code = 0
    except BaseException:  # noqa: BLE001 - the child must not return into its parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def silence_of(held: Iterable[Started], settings: Settings) -> float:
    """Return for how long one of these may hold the interpreter, and with it its process."""
    limits = {each.execution.snapshot.timeout or settings.timeout for each in held}
    longest = max((limit.total_seconds() for limit in limits), default=0.0)
    return longest + 2 * settings.lease.total_seconds()


class DistantHeart:
    """The worker's side: the same as a `Heart`, kept alive by the pulse."""

    def __init__(self, engine: Engine, line: Connection) -> None:
        """Speak to a pulse that was forked before."""
        self._engine = engine
        self._line = line
        self._sending = Lock()
        self._allowed = 0.0
        self._alive_at: float | None = None
        self.session = ""
        self.tick = Tick(alive=False)
        self.told: Told | None = None
        self.answered = False
        self.heard = False

    def allow(self, seconds: float, *, at_most: bool = False) -> None:
        """Let the pulse bear so long a silence: a run may take that long, or none longer."""
        if seconds > self._allowed or at_most:
            self._allowed = seconds
            with suppress(OSError):
                self._send(HEARD + b" %d" % int(seconds))

    def _send(self, message: bytes) -> None:
        with self._sending:
            self._line.send_bytes(message)

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it, for all we know."""
        if self._alive_at is None:
            return True
        lease = self._engine.settings.lease.total_seconds()
        return self._engine.clock.elapsed() - self._alive_at >= lease

    def register(self) -> None:
        """Begin a session; StoreUnavailable or StoreRefused as `Heart.register`."""
        answer = self._ask(REGISTER, "session")
        if "error" in answer:
            kinds = {"gone": StoreGone, "refused": StoreRefused}
            raise kinds.get(str(answer.get("why")), StoreUnavailable)(str(answer["error"]))
        self.session = str(answer["session"])
        self._alive_at = float(answer["alive_at"])

    @property
    def rest(self) -> float:
        """How long to rest before the next beat: the waiting is in `beat` itself."""
        return 0.0

    def beat(self) -> Tick:
        """Wait a little for the next beat of the pulse and return what it heard."""
        try:
            self.heard = self._line.poll(LISTENING)
            if self.heard:
                self._hear(json.loads(self._line.recv_bytes()))
            else:
                self.tick, self.answered = Tick(alive=not self.is_lost), False
        except (EOFError, OSError):
            raise PulseLost("the process that shows life for this worker has ended") from None
        return self.tick

    @property
    def asked_at(self) -> float:
        """When the pulse last asked the store and was answered, by the steady clock."""
        return self._alive_at or 0.0

    def retire(self) -> None:
        """End the session and the pulse."""
        try:
            self._send(RETIRE)
            while self._line.poll(PATIENCE):
                self._line.recv_bytes()
        except (EOFError, OSError):
            pass
        self._alive_at = None

    def _ask(self, question: bytes, wanted: str) -> Mapping[str, Any]:
        try:
            self._send(question)
            while self._line.poll(PATIENCE):
                answer: dict[str, Any] = json.loads(self._line.recv_bytes())
                if wanted in answer or "error" in answer:
                    return answer
        except (EOFError, OSError):
            pass
        raise PulseLost("the process that shows life for this worker does not answer")

    def _hear(self, said: Mapping[str, Any]) -> None:
        if "now" in said:
            self._engine.time.hear(datetime.fromisoformat(said["now"]))
        if said.get("alive_at") is not None:
            self._alive_at = float(said["alive_at"])
        self.answered = bool(said.get("answered"))
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

    def __init__(self, heart: Heart, line: Connection, beat: float) -> None:
        self._heart = heart
        self._line = line
        self._beat = beat
        self._worker = os.getppid()
        self._silent_until: float | None = None

    def beat_until_left(self) -> None:
        """Beat until the worker says so, is gone or is silent for too long; end the session."""
        try:
            while self._listen() and not self._is_silent():
                if not _is_stopped(self._worker):
                    self._heart.beat()
                    self._line.send_bytes(json.dumps(_told(self._heart)).encode())
        except (EOFError, OSError):
            pass
        # A store that is down cannot be told; the lease ends the session.
        with suppress(StoreUnavailable):
            self._heart.retire()
        if self._is_silent() and os.getppid() == self._worker:
            os.kill(self._worker, signal.SIGKILL)

    def _listen(self) -> bool:
        """Hear what the worker says until the next beat; False if it is to be the last."""
        until = self._heart.elapsed() + self._beat
        while self._line.poll(self._wait(until)):
            said = self._line.recv_bytes()
            if said == RETIRE:
                return False
            if said == REGISTER:
                self._line.send_bytes(json.dumps(_register(self._heart)).encode())
                return True
            self._silent_until = self._heart.elapsed() + float(said.split()[1])
        return True

    def _wait(self, until: float) -> float | None:
        return max(0.0, until - self._heart.elapsed()) if self._heart.session else None

    def _is_silent(self) -> bool:
        until = self._silent_until
        return until is not None and self._heart.elapsed() > until


def _is_stopped(pid: int) -> bool:
    """Tell whether a process was stopped by a signal, where the system says so."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] in ("T", "t")


def _register(heart: Heart) -> dict[str, object]:
    try:
        heart.register()
    except SempreError as error:
        why = "gone" if isinstance(error, StoreGone) else "refused"
        refused = isinstance(error, StoreRefused)
        return {"error": str(error), "why": why if refused else "unavailable"}
    return {"session": heart.session, "alive_at": heart.asked_at}


def _told(heart: Heart) -> dict[str, object]:
    tick, told = heart.tick, heart.told
    return {
        "answered": heart.answered,
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
