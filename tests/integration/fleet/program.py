"""The application that the worker processes of a fleet run: `python -m ... <folder> <file>`.

The file in the folder tells the store, the broker, the rota, settings, and how to start.
"""

import asyncio
import ctypes
import json
import logging
import os
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

from sempre import Cron, Every, Sempre, current
from sempre.app.process.worker_processes import work
from sempre.clock import SystemClock
from sempre.engine.events import Event as Told
from tests.integration.fleet.effects import Effects
from tests.integration.fleet.rota import ROTAS, Line

__all__ = ["application", "main"]

# A worker that is killed in mid run leaves the waiting to nobody.
LONGEST_GATE = 600
PAUSE = 0.02
HALF_SWING = 2.5
# Of the interpreter; more than two leases of a fleet.
LONGEST_HOLD = 7
Builder = Callable[[Path, dict[str, Any]], Sempre]


class SwingingClock(SystemClock):
    """A wall clock that is set forth and back by so many seconds, again and again.

    The steady clock is left alone, as it is on a machine whose time is set.
    """

    def __init__(self, seconds: float) -> None:
        self._by = timedelta(seconds=seconds)

    def now(self) -> datetime:
        forth = int(self.elapsed() / HALF_SWING) % 2
        return super().now() + (self._by if forth else -self._by)


class Expected(Exception):
    """A failure that belongs to the test."""


def application(folder: Path, told: dict[str, Any]) -> Sempre:
    """Return the application of a rota."""
    clock = SwingingClock(told["swings"]) if told.get("swings") else None
    app = Sempre(told["store"], broker=told["broker"], clock=clock, **told["settings"])
    effects = Effects(folder)
    for line in ROTAS[told["rota"]]:
        function = _async_job(effects, line) if line.isolation == "async" else _job(effects, line)
        job = app.job(name=f"job-{line.name}", isolation=line.isolation)(function)
        grid = Cron(line.cron) if line.cron else Every(line.seconds)
        app.add(line.name, grid, job.bind(), **line.policies)
    return app


def main(folder: str, told_in: str, *, build: Builder = application) -> None:
    """Work until a signal ends it."""
    logging.basicConfig(format="%(asctime)s %(process)d %(message)s", level=logging.INFO)
    place = Path(folder)
    told = json.loads((place / told_in).read_text())
    app = build(place, told)
    app.events.listen(_log)
    if told["alone"]:
        work(app, queues=("default",), concurrency=told["concurrency"])
    else:
        app.start(processes=told["processes"], concurrency=told["concurrency"])


def _job(effects: Effects, line: Line) -> Callable[[], None]:
    def run() -> None:
        effects.started()
        Event().wait(line.takes)
        _end(effects, line)

    return run


def _async_job(effects: Effects, line: Line) -> Callable[[], Any]:
    async def run() -> None:
        effects.started()
        await asyncio.wait({asyncio.create_task(asyncio.to_thread(Event().wait, line.takes))})
        _end(effects, line)

    return run


def _end(effects: Effects, line: Line) -> None:
    if current().attempt <= line.fails:
        effects.failed()
        raise Expected
    if line.ends_by == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if line.ends_by in ("fork", "scribble"):
        _fork(effects.gate, scribbles=line.ends_by == "scribble")
    if line.ends_by == "hold":
        # No thread of this process runs meanwhile: a call by PyDLL keeps the interpreter's lock.
        ctypes.PyDLL(None).usleep(LONGEST_HOLD * 1_000_000)
    if line.ends_by == "gate":
        logging.getLogger("gate").info("%s waits", current().name)
    if line.ends_by in ("gate", "fork", "scribble"):
        _wait_for(effects.gate)
    effects.ended(guarded_by=_resource(line))


def _resource(line: Line) -> str:
    return f"{line.name}@{current().slot.timestamp():.0f}" if line.overlaps else line.name


def _fork(gate: Path, *, scribbles: bool) -> None:
    """Fork a child that outlives this process, and may write to whatever pipes it inherits."""
    if os.fork():
        return
    for descriptor in range(3, 256) if scribbles else ():
        # Not into files: what a job does to the file of a store is beyond help.
        with suppress(OSError):
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"nonsense of a job's child")
    _wait_for(gate)
    os._exit(0)


def _wait_for(gate: Path) -> None:
    for _ in range(int(LONGEST_GATE / PAUSE)):
        if gate.exists():
            return
        Event().wait(PAUSE)


def _log(event: Told) -> None:
    facts = {name: _short(value) for name, value in event.facts.items() if name != "traceback"}
    logging.getLogger("fleet").info("%s %s", event.name.value, facts)


def _short(value: object) -> object:
    key = getattr(value, "key", None)
    return f"{key} a{getattr(value, 'attempt', '')}" if key else value


if __name__ == "__main__":
    main(*sys.argv[1:])
