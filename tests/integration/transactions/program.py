"""A worker of the tests' own: `python -m ... <store> <isolation> <moment> <gate>`.

Its job writes a row of its own through `current().tx`. At its first attempt, if the gate is not
there yet, its process is killed: between the write and the end of the job, or between the commit
and the report of it.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from sempre import Job, Sempre, current
from sempre.app.process.worker_processes import work
from sempre.domain.arguments import Json
from sempre.executors.effects import RunEffects
from sempre.ports.executor import Isolation

__all__ = ["application", "main"]

QUICK = {"lease": "3s", "beat": "1s", "sweep": "1s", "grace": "1s"}


def application(
    store: str, isolation: Isolation, moment: str, gate: Path
) -> tuple[Sempre, Job[[int], int]]:
    """Return the application and its job."""
    settings: dict[str, Any] = QUICK
    app = Sempre(store, **settings)

    @app.job(isolation=isolation)
    def pay(number: int) -> int:
        cursor = current().tx.cursor()
        cursor.execute(f"INSERT INTO orders (number) VALUES ({number})")  # noqa: S608
        if moment == "write":
            _die_once(gate)
        return number

    if moment == "commit":
        _die_after_commit(gate)
    return app, pay


def main(store: str, isolation: Isolation, moment: str, gate: str) -> None:
    """Work until a signal ends it."""
    app, _ = application(store, isolation, moment, Path(gate))
    work(app, queues=("default",), concurrency=1)


def _die_after_commit(gate: Path) -> None:
    keep = RunEffects.keep

    def keep_and_die(self: RunEffects, result: Json) -> None:
        keep(self, result)
        # Rehearsals in the fork server have no transaction, and must not end it.
        if self._effects is not None:
            _die_once(gate)

    RunEffects.keep = keep_and_die  # type: ignore[method-assign]


def _die_once(gate: Path) -> None:
    if not gate.exists():
        gate.touch()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]  # words of the command line
