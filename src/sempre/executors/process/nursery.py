"""The nursery: a process with one thread, which forks, limits, signals and reaps the children.

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
from typing import NoReturn

from sempre.executors.process.child import Births
from sempre.executors.process.limits import Limits
from sempre.executors.process.orders import (
    BEAR,
    BORN,
    BREED,
    END,
    EXPIRED,
    GONE,
    LIMIT,
    READY,
    UNBORN,
    Orders,
    order,
)
from sempre.executors.process.system import die_with_parent, leash, let_signals_in, name_process

__all__ = ["Nursery"]

BROKEN = 70
# What a job starts gets none of the descriptors that we are sent.
_CLOSED_BY_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_ROOM = socket.CMSG_SPACE(4 * 64)
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

    What they tell each other is in `orders.py`; with an order to fork comes a descriptor, on which
    the new process is told more.
    """

    def __init__(
        self, control: socket.socket, births: Births, limits: Limits, lifeline: int | None
    ) -> None:
        """Make a nursery; `lifeline` is a descriptor that is readable when the worker has ended."""
        self._control = control
        self._births = births
        self._limits = limits
        self._lifeline = lifeline
        self._leash = leash()
        self._orders = Orders()
        self._descriptors: deque[int] = deque()
        self._outbox = bytearray()
        self._pids: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._own: list[int] = []
        self._pid = os.getpid()
        self._poll = select.poll()
        self._wake, self._waker = socket.socketpair()

    def serve(self) -> NoReturn:
        """Take over this process, and end it."""
        try:
            self._prepare()
            self._tell(READY, 0, self._pid)
            while self._turn():
                pass
            self._end()
        except BaseException:  # noqa: BLE001 - it must not go on as a second worker
            traceback.print_exc()
        finally:
            os._exit(0)

    def _prepare(self) -> None:
        name_process("sempre-nursery")
        self._births.prepare()
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
        # With what was prepared, besides all that was frozen before the fork.
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
        if self._outbox:
            self._flush()
        wait = self._limits.wait()
        if wait == 0:
            for child in self._limits.due():
                self._expire(child)
            return True
        for descriptor, event in self._poll.poll(wait):
            if descriptor == self._own[1]:
                self._reap()
            elif descriptor == self._lifeline or (event & ~select.POLLOUT and not self._listen()):
                return False
        return True

    def _listen(self) -> bool:
        try:
            raw, with_it, _, _ = self._control.recvmsg(4096, _ROOM, _CLOSED_BY_EXEC)
        except OSError:
            return False
        for _, _, descriptors in with_it:
            self._descriptors.extend(memoryview(descriptors).cast("i"))
        for what, child, detail in self._orders.feed(raw):
            self._obey(what, child, detail)
        return bool(raw)

    def _obey(self, what: int, child: int, detail: int) -> None:
        if what == BEAR:
            self._bear(child, self._descriptors.popleft())
        elif what == LIMIT:
            if child in self._pids:
                self._limits.set(child, detail / 1_000_000)
        elif what == END:
            self._end_politely(child)
        elif what == BREED:
            self._breed(self._descriptors.popleft())

    def _bear(self, child: int, stream: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.close(stream)
            self._tell(UNBORN, child, error.errno or 0)
            return
        if pid == 0:
            self._become_child(stream)
        os.close(stream)
        try:  # noqa: SIM105 - ten pages of memory less to copy
            # By both, as either may come first: from now on a signal reaches the group.
            os.setpgid(pid, pid)
        except OSError:
            pass
        self._pids[child] = pid
        self._numbers[pid] = child
        self._tell(BORN, child, pid)

    def _become_child(self, stream: int) -> NoReturn:
        code = BROKEN
        try:
            os.setpgid(0, 0)
            die_with_parent(self._pid, self._leash)
            name_process("sempre-child")
            self._leave()
            self._births.live(stream)
            code = 0
        except (BrokenPipeError, KeyboardInterrupt):
            # Nobody reads its report, or it was interrupted while it waited for its run.
            pass
        except BaseException:  # noqa: BLE001 - a child never returns into the nursery's code
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _breed(self, descriptor: int) -> None:
        control = socket.socket(fileno=descriptor)
        # If it fails the worker sees its end closed, and asks again another time.
        with control, suppress(OSError):
            if os.fork() == 0:
                signal.set_wakeup_fd(-1)
                for each in (self._control, self._wake, self._waker):
                    each.close()
                for end in (*(self._leash or ()), *self._descriptors):
                    os.close(end)
                Nursery(control, self._births, self._limits.anew(), self._lifeline).serve()

    def _leave(self) -> None:
        """Give up, in a child, what belongs to the nursery."""
        signal.set_wakeup_fd(-1)
        for descriptor in self._own:
            os.close(descriptor)
        for descriptor in self._descriptors:
            # Of orders that came with this one, where a system hands over several at once.
            os.close(descriptor)
        let_signals_in(signal.SIGCHLD)

    def _expire(self, child: int) -> None:
        """Ask a child whose time is over to end; kill one whose grace is over."""
        if self._limits.has_asked(child):
            self._signal(child, signal.SIGKILL)
        else:
            # Before the signal: whatever the child says after it, the worker has heard this first.
            self._tell(EXPIRED, child, 0)
            self._flush()
            self._end_politely(child)

    def _end_politely(self, child: int) -> None:
        if child in self._pids and self._limits.ask(child):
            self._signal(child, signal.SIGTERM)

    def _signal(self, child: int, number: int) -> None:
        # Not reaped yet, so the pid is still that of the child.
        if (pid := self._pids.get(child)) is not None:
            with suppress(OSError):
                os.killpg(pid, number)

    def _reap(self) -> None:
        try:
            self._wake.recv(4096)
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._bury(ended)
        except (BlockingIOError, ChildProcessError):
            pass

    def _bury(self, ended: os.waitid_result) -> None:
        pid = ended.si_pid
        child = self._numbers.pop(pid, None)
        is_well = ended.si_code == os.CLD_EXITED and ended.si_status == 0
        if child is not None and (not is_well or self._limits.has_asked(child)):
            # What it started and left behind; the group exists until it is reaped.
            self._signal(child, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if child is not None:
            del self._pids[child]
            self._limits.forget(child)
            self._tell(GONE, child, os.waitstatus_to_exitcode(status))

    def _tell(self, what: int, child: int, detail: int) -> None:
        self._outbox += order(what, child, detail)

    def _flush(self) -> None:
        # It never waits for the worker, which may be waiting to be heard.
        try:
            sent = self._control.send(self._outbox, socket.MSG_DONTWAIT)
            del self._outbox[:sent]
        except OSError:
            pass
        wanted = select.POLLIN | (select.POLLOUT if self._outbox else 0)
        self._poll.modify(self._control, wanted)

    def _end(self) -> None:
        for pid in self._numbers:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        for pid in self._numbers:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
