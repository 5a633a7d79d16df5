"""Jobs that behave well and badly, for child processes. They write lines to a pipe of the test."""

import asyncio
import ctypes
import logging
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from threading import Event

from sempre.domain.arguments import Json
from sempre.domain.job_ends import GiveUp, RetryLater
from sempre.errors import RunCancelled
from sempre.executors.current import current
from sempre.ports.executor import Task
from sempre.testing.polling import eventually

__all__ = ["TASKS", "write_line"]

TASKS: dict[str, Task] = {}
SHOP = logging.getLogger("shop")
MARK: ContextVar[str] = ContextVar("mark", default="unset")
STUBBORN_CHILD = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('stubborn', flush=True); signal.pause()"
)
_seen: list[str] = []


def write_line(word: object) -> None:
    """Write a line for the test; the pipe ends when no process is left that holds it."""
    os.write(pipe(), f"{word}\n".encode())


def pipe() -> int:
    return int(os.environ["SEMPRE_TEST_PIPE"])


def register(function: Callable[..., object], memory: int | None = None) -> None:
    TASKS[function.__name__] = Task(
        function.__name__,
        function,
        "process",
        memory=memory,
        redact=("iban",),
        result_limit=2 * 2**20 if function is repeat else 65_536,
    )


def hang() -> None:
    write_line(os.getpid())
    Event().wait()


def echo(value: Json = None) -> Json:
    return value


def repeat(letter: str, times: int) -> str:
    return letter * times


def give_bytes() -> bytes:
    return b"raw"


def fail(message: str) -> None:
    raise ValueError(message)


class Busy(ConnectionError):
    """A failure of the job's own type."""


def fail_busily() -> None:
    raise Busy


def retry_later(after: str, reason: str) -> None:
    raise RetryLater(datetime.fromisoformat(after) if "-" in after else after, reason)


def give_up(reason: str) -> None:
    raise GiveUp(reason)


def leave(code: int) -> None:
    os._exit(code)


def leave_politely(code: int) -> None:
    sys.exit(code)


def abort() -> None:
    os.abort()


def read_nothing() -> None:
    ctypes.string_at(0)


def kill_myself(number: int) -> None:
    os.kill(os.getpid(), number)
    Event().wait()


def eat() -> None:
    meals = []
    while True:
        meals.append(bytearray(1_000_000))


def eat_a_little() -> int:
    return len(bytearray(1_000_000))


def hang_stubbornly() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang()


def listen() -> None:
    run = current()
    run.raise_if_cancelled()
    write_line("polling")
    eventually(lambda: run.cancelled)
    try:
        run.raise_if_cancelled()
    except RunCancelled as error:
        write_line(f"cancelled: {error}")
        raise


def finish_all_the_same() -> str:
    done = Event()
    signal.signal(signal.SIGTERM, lambda *_: done.set())
    write_line("ready")
    done.wait()
    write_line("finished")
    return "done"


def finish_on_signal() -> str:
    done = Event()
    signal.signal(signal.SIGUSR1, lambda *_: done.set())
    write_line(os.getpid())
    done.wait()
    return "done"


def hang_with_a_grandchild() -> None:
    start_a_grandchild()
    Event().wait()


def crash_with_a_grandchild() -> None:
    start_a_grandchild()
    os.abort()


def start_a_grandchild() -> None:
    command = [sys.executable, "-c", STUBBORN_CHILD]
    started = subprocess.Popen(command, pass_fds=[pipe()], stdout=subprocess.PIPE)
    assert started.stdout
    write_line(started.stdout.readline().decode().strip())


def report_progress() -> None:
    for number in range(1_000):
        current().progress(number, 1_000, "è")
    current().progress(1_000, 1_000, "all")
    hang()


async def wait_a_moment(name: str) -> str:
    await asyncio.to_thread(str)
    return f"ciao {name}, by {current().name}"


def describe() -> object:
    """Return what a child can know of itself."""
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR1)
    return {
        "leads its group": os.getpgid(0) == os.getpid(),
        "handlers": [repr(signal.getsignal(each)) for each in signals],
        "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "descriptors": sorted(open_descriptors()),
        "stdin": os.read(0, 1).decode(),
        "facts": [current().name, current().attempt, current().slot.isoformat()],
        "has time": (current().seconds_left or 0) > 0,
    }


def open_descriptors() -> list[int]:
    found = []
    for descriptor in range(256):
        with suppress(OSError):
            os.fstat(descriptor)
            found.append(descriptor)
    return found


def list_descriptors() -> object:
    """Return what this process has open, and what a program would have that it starts."""
    program = "import os; print(*os.listdir('/proc/self/fd'))"
    started = subprocess.run(
        [sys.executable, "-c", program], close_fds=False, capture_output=True, check=True
    )
    return {"own": len(open_descriptors()), "programs": len(started.stdout.split())}


def describe_descriptors(descriptors: list[int]) -> list[str]:
    return [str(Path(f"/proc/self/fd/{each}").readlink()) for each in descriptors]


def remember() -> list[str]:
    """Return what an earlier run left behind in this process."""
    before = [MARK.get(), *_seen]
    MARK.set("left behind")
    _seen.append("left behind")
    return before


def write_nonsense() -> None:
    for descriptor in own_sockets():
        os.write(descriptor, b"\xff" * 64)
    Event().wait()


def forge(text: str) -> None:
    """Send a message in the place of the child, on the descriptor that leads to the worker."""
    body = text.encode("utf-8", "surrogatepass")
    for descriptor in own_sockets():
        os.write(descriptor, len(body).to_bytes(4, "big") + body)
    Event().wait()


def own_sockets() -> list[int]:
    sockets = [each for each in open_descriptors() if stat.S_ISSOCK(os.fstat(each).st_mode)]
    return [each for each in sockets if each != int(os.environ["SEMPRE_TEST_CHANNEL"])]


def close_everything() -> str:
    os.closerange(3, 256)
    return "no report can be sent"


def print_something() -> None:
    print("ciao from a child", flush=False)  # noqa: T201 - that it is not lost is the point
    print("and an error", file=sys.stderr)  # noqa: T201


def log(*, times: int = 1, then: str = "") -> str:
    """Log as often as the test wants, then end in one of several ways."""
    for number in range(times):
        SHOP.info("%d %s", number, "x" * (5000 if times > 1 else 1))
    if then == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if then == "hang":
        hang()
    if then == "raise":
        try:
            fail("no rate")
        except ValueError:
            SHOP.exception("\0 \ud800 password=hunter2 iban=IT60")
    if then == "fork":
        pid = os.fork()
        if pid == 0:
            SHOP.info("in the fork")
            os._exit(0)
        os.waitpid(pid, 0)
    return "logged"


def log_in_signal_handlers(*, times: int) -> str:
    """Log while a signal handler interrupts, again and again, which logs and raises."""
    is_logging = [False]

    def interrupt(*_: object) -> None:
        SHOP.info("in a handler")
        if is_logging[0]:
            is_logging[0] = False
            raise TimeoutError

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    raised = 0
    for number in range(times):
        try:
            is_logging[0] = True
            SHOP.info("%d %s", number, "x" * 5000)
            is_logging[0] = False
        except TimeoutError:
            raised += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    return "raised" if raised else "never raised"


for each in (
    abort, close_everything, crash_with_a_grandchild, describe,
    describe_descriptors, echo, fail, fail_busily,
    finish_all_the_same, finish_on_signal, forge, give_bytes, give_up, hang, hang_stubbornly,
    hang_with_a_grandchild, kill_myself, leave, leave_politely, list_descriptors, listen,
    log, log_in_signal_handlers,
    print_something, read_nothing, remember, repeat, report_progress, retry_later, wait_a_moment,
    write_nonsense,
):  # fmt: skip
    register(each)
register(eat, memory=600_000_000)
register(eat_a_little, memory=600_000_000)
