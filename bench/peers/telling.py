"""What every script of a peer needs: what it was told, and how a job leaves its mark.

No import from outside the standard library: this is read in every environment.
"""

import json
import os
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from threading import Event
from time import perf_counter, time
from typing import Any

__all__ = ["await_end", "gathered", "mark", "say", "timed", "told", "trickle"]

MARK = struct.calcsize("d")
PAUSE, LONGEST = 0.02, 15_000
# For how long a worker is idle before a job is enqueued, and how often to see if it has started.
IDLE, BRIEFLY, PATIENCE = (0.1, 1.5), 0.001, 60.0
_TOLD: dict[str, Any] = json.loads(os.environ.get("BENCH", "{}"))
_FILES: dict[int, int] = {}


def told(name: str, usual: Any = None) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Return a setting of this run."""
    return _TOLD.get(name, usual)


def mark(value: float | None = None) -> None:
    """Note that a job starts now: about two microseconds, and the same for every contestant.

    Args:
        value: what is noted; the time by default.
    """
    descriptor = _FILES.get(os.getpid())
    if descriptor is None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = _FILES[os.getpid()] = os.open(told("marks"), flags, 0o644)
    os.write(descriptor, struct.pack("d", time() if value is None else value))


def say(**facts: float) -> None:
    """Tell the harness that this script is ready, and go on."""
    print(json.dumps(facts), flush=True)


def await_end(count: int, is_over: Callable[[], bool]) -> dict[str, float]:
    """Say that we watch; then wait until so many have started and all is recorded; say when."""
    say(ready=1)
    pause = Event()
    for _ in range(LONGEST):
        if _starts() >= count and is_over():
            return {"at": time()}
        pause.wait(PAUSE)
    raise SystemExit("what has run was not recorded")


def _starts() -> int:
    try:
        return Path(told("marks")).stat().st_size // MARK
    except FileNotFoundError:
        return 0


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Do something and say how long it took."""
    begin = perf_counter()
    work()
    return {"seconds": perf_counter() - begin}


def trickle(send: Callable[[], object], count: int) -> dict[str, list[float]]:
    """Enqueue one job at a time, while the worker is idle; say when each call was made."""
    # The same pauses for everybody.
    chance, pause, sent = Random(count), Event(), []  # noqa: S311
    for number in range(count):
        pause.wait(chance.uniform(*IDLE))
        sent.append(time())
        send()
        until = sent[-1] + PATIENCE
        while _starts() <= number:
            if time() > until:
                raise SystemExit(f"a job has not started within {PATIENCE} s")
            pause.wait(BRIEFLY)
    return {"sent": sent}


async def gathered(
    send: Callable[[], Awaitable[object]], count: int, width: int = 100
) -> dict[str, float]:
    """Send so many, some at the same time, for those that have no bulk interface."""
    import asyncio  # noqa: PLC0415 - most scripts need none

    begin = perf_counter()
    for first in range(0, count, width):
        await asyncio.gather(*[send() for _ in range(min(width, count - first))])
    return {"seconds": perf_counter() - begin}
