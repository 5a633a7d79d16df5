"""Derives by a pair whatever is pending in a store's own database; prints what it took.

`python -m ... <store> <contract|plain> <whole|traced>`, in a process of its own: memory is that of
the whole process, or what Python has allocated, without the 64 MB of pages that SQLite may cache.
"""

import json
import sys
import tracemalloc
from pathlib import Path

from sempre import Sempre
from sempre.domain.pair import Scan
from sempre.executors.current import Current, running

__all__ = ["main"]

PENDING = "SELECT id FROM wanted"


def main(store: str, how: str, memory: str = "whole") -> None:
    """Run a pair once, as a worker does."""
    app = Sempre(store)

    @app.job(unique=["number"])
    def create(number: int) -> None: ...

    contract = (lambda: PENDING) if how == "contract" else None
    create.pair(every="1m", contract=contract)(lambda: PENDING)
    app.sync()
    if memory == "traced":
        tracemalloc.start()
    with running(Current(name="pair:create", job="pair:create")):
        scan = Scan.read(app.declarations.tasks["pair:create"].function())
    assert scan is not None
    peak = tracemalloc.get_traced_memory()[1] / 2**20 or _peak()
    told = {"found": scan.found, "enqueued": scan.enqueued, "uncovered": scan.uncovered}
    print(json.dumps({**told, "peak": peak, "seconds": scan.seconds}))  # noqa: T201 - the answer
    app.close()


def _peak() -> float:
    """Return the most memory that this process ever had; getrusage() also counts its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
