"""The fork server: a process with one thread, which forks, limits, signals and reaps the children.

The worker forks the server before its first thread, so every child begins as the copy of an idle
process that knows all registered jobs. The fork server kills every child and ends when the worker
has ended. If the fork server dies, the kernel kills its children.

For each run a child and the fork server copy every page of memory that either writes to. Each page
fault costs 3 to 5 microseconds, and page faults are most of the cost of an empty run. Hence
the plain numbers here, and the work that `ChildMain` does before the fork.
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

from sempre.executors.process.child_main import ChildMain
from sempre.executors.process.server_messages import (
    END,
    EXITED,
    EXPIRED,
    FORK,
    FORK_FAILED,
    FORKED,
    LIMIT,
    MessageReader,
    encode,
)
from sempre.executors.process.system import die_with_parent, name_process, open_parent_pipe
from sempre.executors.process.time_limits import TimeLimits

__all__ = ["ForkServer"]

# The exit code of a child that could not report: EX_SOFTWARE.
NO_REPORT = 70
# `exec` closes the descriptors that arrive: a program that a job starts gets none.
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_DESCRIPTOR_SPACE = socket.CMSG_SPACE(4 * 64)
# Signals that may reach every process of a service; the fork server ends after the worker.
_BLOCKED = {
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
}


class ForkServer:
    """Obeys the worker at the other end of a socket, until that end is closed.

    `server_messages.py` lists the messages. With a FORK arrives a descriptor: the stream on which
    the child talks to the worker.
    """

    def __init__(
        self,
        control: socket.socket,
        child_main: ChildMain,
        limits: TimeLimits,
        worker_exit: int | None,
    ) -> None:
        """Prepare; `worker_exit` is a descriptor that is readable when the worker has ended."""
        self._control = control
        self._child_main = child_main
        self._limits = limits
        self._worker_exit = worker_exit
        self._parent_pipe = open_parent_pipe()
        self._messages = MessageReader()
        self._streams: deque[int] = deque()
        self._outbox = bytearray()
        self._pids: dict[int, int] = {}
        self._children: dict[int, int] = {}
        self._own: list[int] = []
        self._pid = os.getpid()
        self._poll = select.poll()
        self._wake, self._waker = socket.socketpair()

    def serve(self) -> NoReturn:
        """Serve the worker in this process, and end the process."""
        try:
            self._prepare()
            while self._serve_once():
                pass
            self._kill_all()
        except BaseException:  # noqa: BLE001 - this process must not go on as a second worker
            traceback.print_exc()
        finally:
            os._exit(0)

    def _prepare(self) -> None:
        name_process("sempre-forksrv")
        self._child_main.rehearse()
        self._reset_signals()
        for end in (self._wake, self._waker):
            os.set_blocking(end.fileno(), False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with suppress(OSError):
            # No job is to read from the terminal.
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(null)
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        self._own = [self._control.fileno(), self._wake.fileno(), self._waker.fileno()]
        if self._worker_exit is not None:
            self._poll.register(self._worker_exit, select.POLLIN)
            self._own.append(self._worker_exit)
        # Freeze the prepared objects too, besides the objects that were frozen before the fork.
        gc.freeze()

    @staticmethod
    def _reset_signals() -> None:
        for each in signal.valid_signals():
            if callable(signal.getsignal(each)) or signal.getsignal(each) is None:
                with suppress(OSError, ValueError):
                    signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Blocked, not ignored: a child inherits no pending signal, and gets all of its own.
        signal.pthread_sigmask(signal.SIG_SETMASK, _BLOCKED)

    def _serve_once(self) -> bool:
        """Wait for a message, an exit or a time limit; False if the worker has ended."""
        if self._outbox:
            self._flush()
        wait = self._limits.wait()
        if wait == 0:
            for child in self._limits.due():
                self._expire(child)
            return True
        for descriptor, event in self._poll.poll(wait):
            if descriptor == self._own[1]:
                self._reap_all()
            elif descriptor == self._worker_exit or (
                event & ~select.POLLOUT and not self._receive()
            ):
                return False
        return True

    def _receive(self) -> bool:
        try:
            raw, ancillary, _, _ = self._control.recvmsg(4096, _DESCRIPTOR_SPACE, _CLOSE_ON_EXEC)
        except OSError:
            return False
        for _, _, descriptors in ancillary:
            self._streams.extend(memoryview(descriptors).cast("i"))
        for kind, child, detail in self._messages.feed(raw):
            self._obey(kind, child, detail)
        return bool(raw)

    def _obey(self, kind: int, child: int, detail: int) -> None:
        if kind == FORK:
            self._fork(child, self._streams.popleft())
        elif kind == LIMIT:
            if child in self._pids:
                self._limits.set(child, detail / 1_000_000)
        elif kind == END:
            self._ask_to_end(child)

    def _fork(self, child: int, stream: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.close(stream)
            self._send(FORK_FAILED, child, error.errno or 0)
            return
        if pid == 0:
            self._become_child(stream)
        os.close(stream)
        try:  # noqa: SIM105 - `suppress` would write to ten more pages of memory
            # In both processes, as either may come first: from now on a signal reaches the group.
            os.setpgid(pid, pid)
        except OSError:
            pass
        self._pids[child] = pid
        self._children[pid] = child
        self._send(FORKED, child, pid)

    def _become_child(self, stream: int) -> NoReturn:
        code = NO_REPORT
        try:
            os.setpgid(0, 0)
            die_with_parent(self._pid, self._parent_pipe)
            name_process("sempre-child")
            self._leave_server()
            self._child_main.run(stream)
            code = 0
        except (BrokenPipeError, KeyboardInterrupt):
            # The worker does not read the report, or SIGINT came before the run.
            pass
        except BaseException:  # noqa: BLE001 - a child never returns into the fork server's code
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _leave_server(self) -> None:
        """Give up, in a child, the descriptors and the signal mask of the fork server."""
        signal.set_wakeup_fd(-1)
        for descriptor in self._own:
            os.close(descriptor)
        for descriptor in self._streams:
            # Streams of FORK messages that arrived together with this one.
            os.close(descriptor)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def _expire(self, child: int) -> None:
        """Ask a child whose time is over to end; kill a child whose grace is over."""
        if self._limits.has_asked(child):
            self._signal(child, signal.SIGKILL)
        else:
            # Before the signal: the worker receives EXPIRED before any answer to the signal.
            self._send(EXPIRED, child, 0)
            self._flush()
            self._ask_to_end(child)

    def _ask_to_end(self, child: int) -> None:
        if child in self._pids and self._limits.ask(child):
            self._signal(child, signal.SIGTERM)

    def _signal(self, child: int, number: int) -> None:
        # Children are reaped here alone, so a known pid is still that of the child.
        if (pid := self._pids.get(child)) is not None:
            with suppress(OSError):
                os.killpg(pid, number)

    def _reap_all(self) -> None:
        try:
            self._wake.recv(4096)
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._reap(ended)
        except (BlockingIOError, ChildProcessError):
            pass

    def _reap(self, ended: os.waitid_result) -> None:
        pid = ended.si_pid
        child = self._children.pop(pid, None)
        is_well = ended.si_code == os.CLD_EXITED and ended.si_status == 0
        if child is not None and (not is_well or self._limits.has_asked(child)):
            # For the processes that the child started; the group exists until it is reaped.
            self._signal(child, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if child is not None:
            del self._pids[child]
            self._limits.forget(child)
            self._send(EXITED, child, os.waitstatus_to_exitcode(status))

    def _send(self, kind: int, child: int, detail: int) -> None:
        self._outbox += encode(kind, child, detail)

    def _flush(self) -> None:
        # Without waiting: the worker may itself be waiting for room in the socket.
        try:
            sent = self._control.send(self._outbox, socket.MSG_DONTWAIT)
            del self._outbox[:sent]
        except OSError:
            pass
        wanted = select.POLLIN | (select.POLLOUT if self._outbox else 0)
        self._poll.modify(self._control, wanted)

    def _kill_all(self) -> None:
        for pid in self._children:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        for pid in self._children:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
