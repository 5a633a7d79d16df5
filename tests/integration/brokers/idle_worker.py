"""A worker that only a wake-up can move: `python -m ... <store> <broker> <file>`.

Its heartbeats and sweeps are hours apart, so that nothing else finds work that another process
has placed. Its job appends a line to the file.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from sempre import Job, Sempre
from sempre.app.process.worker_processes import work

__all__ = ["Marking", "main"]

CONCURRENCY = 2


@dataclass(frozen=True)
class Marking:
    """The application, as the worker has it and whoever gives it work."""

    app: Sempre
    mark: Job[[str], None]
    marks: Path

    @classmethod
    def on(cls, store: str, broker: str, marks: Path) -> "Marking":
        """Declare the job on a store."""
        app = Sempre(
            store, broker=broker, lease="12h", beat="4h", sweep="4h", watchdog_interval="10h"
        )

        @app.job
        def mark(word: str) -> None:
            with marks.open("a") as opened:
                opened.write(f"{word}\n")

        return cls(app, mark, marks)

    def count(self, word: str) -> int:
        """Return how many runs have appended this word."""
        return self.marks.read_text().splitlines().count(word) if self.marks.exists() else 0


def main(store: str, broker: str, marks: str) -> None:
    """Work until a signal ends it."""
    work(Marking.on(store, broker, Path(marks)).app, queues=("default",), concurrency=CONCURRENCY)


if __name__ == "__main__":
    main(*sys.argv[1:])
