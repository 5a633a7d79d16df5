"""The supervisor: starts worker processes, and starts them again when they crash.

The supervisor has no threads and no connections, and runs no code of the user: it only forks, waits
and passes signals on, so that a crashed worker is always replaced. A companion, such as the metrics
process, is one more child: it is replaced too, never ends the command, and ends after the last
worker. If the supervisor itself is
killed, its children see the end of a pipe that only it could write to, and end too: workers that
cannot be stopped or restarted would be found by accident.

A worker process that dies after it has begun a run is always replaced: the job may be the reason,
and one job must not end the others. A worker process that dies before its first run will not do
better the next time; several of those end the command. A byte of memory that parent and child share
says which of the two it was, however the child died. A worker that a store or a setting refuses
before its first run ends the command at once: it leaves the reason in the shared memory, and the
supervisor raises it.
"""

import logging
import mmap
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from sempre.clock import Clock
from sempre.errors import InvalidInput, MissingExtra, Refused, SempreError, StoreRefused

__all__ = ["DRAINED", "CrashLoop", "Supervisor"]

DRAINED = -1
"""What `run` returns if an operator has drained the child: no other child takes its place."""

MOST_CRASHES = 5
WITHIN = 60.0
LONGEST_REST = 30.0
LONGEST_REASON = 8192
HAS_DRAINED = 2
# Seconds before a companion that died is replaced, and until one that is asked to end is killed.
COMPANION_REST = 5.0
COMPANION_END = 3.0
# Errors that every worker would meet.
REFUSALS = (StoreRefused, InvalidInput, MissingExtra, Refused)
Mask = set[signal.Signals | int]
logger = logging.getLogger("sempre")
WATCHED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM)


class CrashLoop(SempreError):
    """Workers crashed again and again before they had begun a run; another one would not help."""


@dataclass
class Supervisor:
    """Keeps a number of child processes running until a signal stops it.

    Attributes:
        run: called in a child; returns the child's exit code, or DRAINED. Its arguments are a
            descriptor that reaches its end when the supervisor is gone, and a function to call
            before a run.
        processes: how many child processes; one less after each that is drained.
        companion: called in one more child, with the descriptor; SIGTERM is blocked there, and asks
            it to return.
    """

    run: Callable[[int, Callable[[], None]], int]
    processes: int
    clock: Clock
    companion: Callable[[int], int] | None = None
    _companion_pid: int = 0
    _children: dict[int, mmap.mmap] = field(default_factory=dict)
    _crashes: deque[float] = field(default_factory=deque)
    _fruitless: deque[float] = field(default_factory=deque)
    _stopping: bool = False
    _refusal: SempreError | None = None
    _parent_pipe: tuple[int, int] = (-1, -1)

    def run_until_stopped(self) -> None:
        """Start the children, and return when they have ended after a signal.

        Raises:
            CrashLoop: five crashes within a minute, each before a run had begun.
            StoreRefused: the store refused a worker before its first run; so do other errors that
                every worker would meet, such as InvalidInput.
        """
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        self._parent_pipe = os.pipe()
        try:
            self._fork_companion()
            for _ in range(self.processes):
                self._fork(mask)
            while self._children or not self._stopping:
                self._handle(signal.sigwait(WATCHED), mask)
        finally:
            for pid in self._children:
                logger.error("worker process %d is killed, as its supervisor ends", pid)
            self._signal(signal.SIGKILL)
            self._end_companion()
            signal.setitimer(signal.ITIMER_REAL, 0)
            # Signals that were sent again: the stop has just been carried out.
            while pending := signal.sigpending().intersection(WATCHED):
                signal.sigwait(pending)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for end in self._parent_pipe:
                os.close(end)
        if self._refusal is not None:
            raise self._refusal

    def _handle(self, received: int, mask: Mask) -> None:
        if received == signal.SIGCHLD:
            self._reap(mask)
        elif received == signal.SIGALRM:
            self._fill(mask)
        else:
            self._stopping = True
            # A terminal that is closed is no reason to cut runs off.
            self._signal(signal.SIGTERM if received == signal.SIGHUP else received)

    def _reap(self, mask: Mask) -> None:
        """Note children that have ended, and start others after a rest."""
        self._reap_companion()
        crashed = []
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with self._children.pop(pid) as begun:
                    has_begun, has_drained = bool(begun[0]), begun[0] == HAS_DRAINED
                    refusal = _read_refusal(begun)
                if refusal is not None:
                    self._give_up(refusal)
                elif has_drained:
                    self._leave_empty()
                elif code := os.waitstatus_to_exitcode(status):
                    crashed.append((pid, code))
                    self._count(has_begun=has_begun)
        rest = min(LONGEST_REST, 0.1 * 2 ** len(self._crashes)) if self._crashes else 0.0
        for pid, code in crashed:
            logger.warning("worker process %d %s; %s", pid, _how(code), self._what_next(rest))
        if self._is_looping:
            self._stopping = True
            raise CrashLoop(_crash_loop(crashed[-1][1]))
        if len(self._children) < self.processes and not self._stopping:
            if rest:
                signal.setitimer(signal.ITIMER_REAL, rest)
            else:
                self._fill(mask)

    def _leave_empty(self) -> None:
        """Start no other child in the place of a drained one; stop after the last."""
        self.processes -= 1
        self._stopping = self._stopping or not self.processes

    def _give_up(self, refusal: SempreError) -> None:
        """End the command for a reason that every worker would meet, after the other children."""
        self._refusal = self._refusal or refusal
        self._stopping = True
        self._signal(signal.SIGTERM)

    def _count(self, *, has_begun: bool) -> None:
        now = self.clock.elapsed()
        for crashes in (self._crashes,) if has_begun else (self._crashes, self._fruitless):
            crashes.append(now)
        for crashes in (self._crashes, self._fruitless):
            while crashes and now - crashes[0] > WITHIN:
                crashes.popleft()

    @property
    def _is_looping(self) -> bool:
        return len(self._fruitless) >= MOST_CRASHES and not self._stopping

    def _what_next(self, rest: float) -> str:
        if self._stopping:
            return "no other worker starts, since the workers stop"
        if self._is_looping:
            return "no other worker starts"
        return f"another worker starts in {rest:.1f} s"

    def _fill(self, mask: Mask) -> None:
        self._fork_companion()
        while len(self._children) < self.processes and not self._stopping:
            self._fork(mask)

    def _fork(self, mask: Mask) -> None:
        _flush()
        begun = mmap.mmap(-1, 1 + LONGEST_REASON)
        pid = os.fork()
        if pid:
            self._children[pid] = begun
            return
        code = 1
        try:
            # A terminal's Ctrl-C goes to the supervisor, which passes the signal on once.
            os.setpgid(0, 0)
            self._children.clear()
            os.close(self._parent_pipe[1])
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            code = self.run(self._parent_pipe[0], lambda: begun.__setitem__(0, 1))
            if code == DRAINED:
                # In shared memory: a job could end its process with any exit code.
                begun[0], code = HAS_DRAINED, 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except KeyboardInterrupt:
            # The signal came before a handler was set; there is nothing to drain yet.
            code = 0
        except REFUSALS as error:
            if begun[0]:
                logger.error("this worker process ends: %s", error)  # noqa: TRY400 - it says all
            else:
                _write_refusal(begun, error)
        except BaseException:
            # Every exception: a child must not return into its parent's code.
            logger.critical("this worker process crashes", exc_info=True)
        finally:
            _leave(code)

    def _fork_companion(self) -> None:
        """Start the companion if there is one to start; its mask stays, so that it can wait."""
        if self.companion is None or self._companion_pid:
            return
        _flush()
        pid = os.fork()
        if pid:
            self._companion_pid = pid
            return
        code = 1
        try:
            os.setpgid(0, 0)
            self._children.clear()
            os.close(self._parent_pipe[1])
            signal.setitimer(signal.ITIMER_REAL, 0)
            code = self.companion(self._parent_pipe[0])
        except BaseException:
            logger.critical("the process beside the workers crashes", exc_info=True)
        finally:
            _leave(code)

    def _reap_companion(self) -> None:
        """Note that the companion has ended, and have another one started after a rest."""
        if not self._companion_pid or not (ended := os.waitpid(self._companion_pid, os.WNOHANG))[0]:
            return
        self._companion_pid = 0
        if not self._stopping:
            how = _how(os.waitstatus_to_exitcode(ended[1]))
            logger.warning("process %d beside the workers %s; another one starts", ended[0], how)
            # A timer that is set already is for a worker, and starts both.
            rest = signal.getitimer(signal.ITIMER_REAL)[0] or COMPANION_REST
            signal.setitimer(signal.ITIMER_REAL, rest)

    def _end_companion(self) -> None:
        """Ask the companion to end, and kill it if it does not."""
        pid, self._companion_pid = self._companion_pid, 0
        if not pid:
            return
        os.kill(pid, signal.SIGTERM)
        signal.setitimer(signal.ITIMER_REAL, COMPANION_END)
        while not os.waitpid(pid, os.WNOHANG)[0]:
            if signal.sigwait({signal.SIGCHLD, signal.SIGALRM}) == signal.SIGALRM:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return

    def _signal(self, number: int) -> None:
        for pid in self._children:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _flush() -> None:
    """Write buffered output out, so that a fork or an exit neither repeats nor loses any."""
    sys.stdout.flush()
    sys.stderr.flush()


def _leave(code: int) -> NoReturn:
    """End a child process without returning into its parent's code."""
    _flush()
    os._exit(code)


def _write_refusal(shared: mmap.mmap, error: SempreError) -> None:
    kind = next(place for place, each in enumerate(REFUSALS) if isinstance(error, each))
    text = f"{kind}{error}".encode("utf-8", "backslashreplace")[:LONGEST_REASON]
    shared[1 : 1 + len(text)] = text


def _read_refusal(shared: mmap.mmap) -> SempreError | None:
    """Return the error that a worker left in shared memory; None if there is none."""
    text = shared[1:].rstrip(b"\0").decode("utf-8", "replace")
    if not text:
        return None
    kind: type[SempreError] = REFUSALS[int(text[0])]
    # Without its constructor, which would compose the text anew.
    return kind.__new__(kind, text[1:])


def _how(code: int) -> str:
    """Return how a process ended: by the name of a signal, or by its exit code."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _crash_loop(code: int) -> str:
    what = f"{MOST_CRASHES} worker processes crashed within a minute before they had begun a run"
    return f"{what}, and the last one {_how(code)}; see the log above for its reason."
