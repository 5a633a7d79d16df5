"""The application of the drill: `python -m ... <folder> <file>`, as of every fleet.

A row of the customer's table says that a database is wanted. The job makes it: an effect that
nothing but the transaction keeps from happening twice, and the new state of the row.
"""

import os
import signal
import sys
from pathlib import Path
from threading import Event
from typing import Any

from sempre import Job, Sempre, current
from tests.integration.fleet.effects import Effects
from tests.integration.fleet.program import main

__all__ = ["JOB", "application", "create_database_of"]

JOB = "create_database"
# Long enough to be met by a fault.
TAKES = 0.1


def application(folder: Path, told: dict[str, Any]) -> Sempre:
    """Return the application: one job and its pair."""
    app = Sempre(told["store"], broker=told["broker"], **told["settings"])
    create_database_of(app, folder, told["fatal"])
    return app


def create_database_of(app: Sempre, folder: Path, fatal: list[int]) -> Job[[int], None]:
    """Declare the job and its pair; the first run of each fatal number kills its worker."""
    effects = Effects(folder)

    @app.job(name=JOB, unique=["number"])
    def create_database(number: int) -> None:
        effects.started()
        cursor = current().tx.cursor()
        wanted = "SELECT id FROM wanted WHERE id = %s AND state = 'pending' FOR UPDATE"
        cursor.execute(wanted, (number,))
        if not cursor.fetchall():
            return  # an earlier run has done it
        cursor.execute("INSERT INTO created (number) VALUES (%s)", (number,))
        Event().wait(TAKES)
        if number in fatal and current().attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        cursor.execute("UPDATE wanted SET state = 'ready' WHERE id = %s", (number,))

    @create_database.pair(every="1s")
    def pending() -> str:
        return "SELECT id FROM wanted WHERE state = 'pending'"

    return create_database


if __name__ == "__main__":
    main(*sys.argv[1:], build=application)
