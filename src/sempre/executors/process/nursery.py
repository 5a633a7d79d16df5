"""The nursery: a process with one thread, which forks, signals and reaps the children.

It is forked from the worker before that has threads, so every child begins as the copy of a
process in which nothing else was going on. It knows all registered jobs, as it is a copy itself.
It ends, and kills every child, when the worker is gone. If it dies itself, its children die with
it; another one, which it has bred in advance, takes over.
"""

import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections import deque
from contextlib import suppress
from typing import Any, NoReturn

from sempre.executors.process.child import Births, Life
from sempre.executors.process.frames import Frames, packed
from sempre.executors.process.system import die_with_parent, leash, name_process

__all__ = ["Nursery"]

BROKEN = 70
# What may reach every process of a service; the nursery ends when the worker does, not before.
_PATIENT = {
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
}


class Nursery:
    """Obeys the worker at the other end of a socket, until that is closed.

    It is told `{"run": n, "call": facts}` with a descriptor (fork a child that answers on it),
    `{"signal": s, "run": n}` (to the whole group of that child) and `{"nursery": 1}` with a
    descriptor (fork another nursery). It tells `ready`, `born` with the pid, `unborn` with an
    error, and `gone` with the exit code, negative for a signal.
    """

    def __init__(self, control: socket.socket, births: Births, lifeline: int | None) -> None:
        """Make a nursery; `lifeline` is a descriptor that is readable when the worker has ended."""
        self._control = control
        self._births = births
        self._lifeline = lifeline
        self._leash = leash()
        self._frames = Frames()
        self._descriptors: deque[int] = deque()
        self._outbox = bytearray()
        self._pids: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._asked: set[int] = set()
        self._own: list[int] = []
        self._poll = select.poll()
        self._wake, self._waker = socket.socketpair()

    def serve(self) -> NoReturn:
        """Take over this process, and end it."""
        try:
            self._prepare()
            self._tell({"ready": os.getpid()})
            while self._turn():
                pass
            self._end()
        except BaseException:  # noqa: BLE001 - it must not go on as a second worker
            traceback.print_exc()
        finally:
            os._exit(0)

    def _prepare(self) -> None:
        name_process("sempre-nursery")
        self._reset_signals()
        for end in (self._wake, self._waker):
            os.set_blocking(end.fileno(), False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with suppress(OSError):
            # No job is to fight for the terminal.
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        self._own = [self._control.fileno(), self._wake.fileno(), self._waker.fileno()]
        if self._lifeline is not None:
            self._poll.register(self._lifeline, select.POLLIN)
            self._own.append(self._lifeline)
        # The collector of a child would write to, and so copy, every page it looks at.
        gc.collect()
        gc.freeze()

    @staticmethod
    def _reset_signals() -> None:
        for each in signal.valid_signals():
            if callable(signal.getsignal(each)) or signal.getsignal(each) is None:
                with suppress(OSError, ValueError):
                    signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Blocked, not ignored: a child gets none of what waits here, and loses none of its own.
        signal.pthread_sigmask(signal.SIG_SETMASK, _PATIENT)

    def _turn(self) -> bool:
        for descriptor, event in self._poll.poll():
            if descriptor == self._wake.fileno():
                with suppress(BlockingIOError):
                    self._wake.recv(4096)
                self._reap()
            elif descriptor == self._lifeline or (event & ~select.POLLOUT and not self._listen()):
                return False
        self._flush()
        return True

    def _listen(self) -> bool:
        try:
            raw, descriptors, _, _ = socket.recv_fds(self._control, 65_536, 64)
        except OSError:
            return False
        self._descriptors += descriptors
        for message in self._frames.feed(raw):
            self._obey(message)
        return bool(raw)

    def _obey(self, message: dict[str, Any]) -> None:
        match message:
            case {"signal": number, "run": run}:
                self._signal(run, number)
            case {"run": run, "call": facts}:
                with self._received() as stream:
                    self._bear(run, facts, stream)
            case {"nursery": _}:
                with self._received() as control:
                    self._breed(control)

    def _received(self) -> socket.socket:
        descriptor = self._descriptors.popleft()
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=descriptor)

    def _bear(self, run: int, facts: dict[str, Any], stream: socket.socket) -> None:
        nursery = os.getpid()
        try:
            life = self._births.prepare(facts, stream)
            pid = os.fork()
        except (LookupError, OSError) as error:
            self._tell({"unborn": run, "error": f"it could not begin: {error}"})
            return
        if pid == 0:
            self._become_child(life, nursery)
        # By both, as either may come first: from now on a signal reaches the group.
        with suppress(OSError):
            os.setpgid(pid, pid)
        self._pids[run] = pid
        self._numbers[pid] = run
        self._tell({"born": run, "pid": pid})

    def _become_child(self, life: Life, nursery: int) -> NoReturn:
        code = BROKEN
        try:
            os.setpgid(0, 0)
            die_with_parent(nursery, self._leash)
            self._leave()
            life.live()
            code = 0
        except BrokenPipeError:
            pass
        except BaseException:  # noqa: BLE001 - a child never returns into the nursery's code
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _breed(self, control: socket.socket) -> None:
        # If it fails the worker sees its end closed, and asks again another time.
        with suppress(OSError):
            if os.fork() == 0:
                signal.set_wakeup_fd(-1)
                for each in (self._control, self._wake, self._waker):
                    each.close()
                for end in self._leash or ():
                    os.close(end)
                Nursery(control, self._births, self._lifeline).serve()

    def _leave(self) -> None:
        """Give up, in a child, what belongs to the nursery."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in self._own:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def _signal(self, run: int, number: int) -> None:
        # Not reaped yet, so the pid is still that of the child.
        if (pid := self._pids.get(run)) is not None:
            self._asked.add(run)
            with suppress(OSError):
                os.killpg(pid, number)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                pid = ended.si_pid
                run = self._numbers.pop(pid, None)
                is_well = (ended.si_code, ended.si_status) == (os.CLD_EXITED, 0)
                if run is not None and (run in self._asked or not is_well):
                    # What it started and left behind; the group exists until it is reaped.
                    self._signal(run, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
                if run is not None:
                    del self._pids[run]
                    self._asked.discard(run)
                    self._tell({"gone": run, "code": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, Any]) -> None:
        self._outbox += packed(message)
        self._flush()

    def _flush(self) -> None:
        # It never waits for the worker, which may be waiting to be heard.
        if self._outbox:
            with suppress(OSError):
                sent = self._control.send(self._outbox, socket.MSG_DONTWAIT)
                del self._outbox[:sent]
        wanted = select.POLLIN | (select.POLLOUT if self._outbox else 0)
        self._poll.modify(self._control, wanted)

    def _end(self) -> None:
        for pid in self._numbers:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        for pid in self._numbers:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
