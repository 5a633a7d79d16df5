"""Times a whole worker: how fast it drains one-off work that does nothing.

    python -m bench.worker                       # SQLite and PostgreSQL, the latter started here
    python -m bench.worker --store sqlite --rows 5000

Beside it the raw driver takes and finishes as many rows of a plain table in the same batches, which
is what the store could do at best (see bench/stores.py). Rounds are interleaved.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import perf_counter, process_time

from bench.raw import Raw, RawPostgresql, RawSqlite
from bench.stores import enqueue
from sempre import Sempre
from sempre.engine.events import Happened
from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.urls import open_store
from tests.integration.sql.postgresql_server import postgresql_server

BATCH = 500


def drain(store: Store, rows: int) -> tuple[float, float]:
    """Return rows per second, and CPU seconds, of a worker that runs them all."""
    app = Sempre(store)
    done, left = Event(), [rows]

    @app.job(name="work")
    def work() -> None: ...

    @app.on(Happened.SUCCEEDED)
    def count(_event: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            done.set()

    enqueue(store, rows)
    began, used = perf_counter(), process_time()
    with app.running(sync=False):
        done.wait()
        seconds, cpu = perf_counter() - began, process_time() - used
    return rows / seconds, cpu


def raw_drain(raw: Raw, rows: int) -> float:
    raw.insert(rows)
    began, done = perf_counter(), 0
    while done < rows:
        done += raw.take_and_finish(BATCH)
    return rows / (perf_counter() - began)


@contextmanager
def cases(wanted: str) -> Iterator[list[tuple[str, Callable[[], Store], Raw]]]:
    with TemporaryDirectory() as folder, postgresql_server() as url:
        made: list[tuple[str, Callable[[], Store], Raw]] = []
        if wanted in ("all", "sqlite"):
            raw: Raw = RawSqlite(Path(folder) / "raw.db")
            made.append(("SQLite", lambda: open_store(f"sqlite:///{folder}/ours.db"), raw))
        if wanted in ("all", "postgresql"):
            made.append(("PostgreSQL", lambda: SqlStore(Postgresql(url)), RawPostgresql(url)))
        yield made


def main() -> None:
    parser = argparse.ArgumentParser(description="Times a worker beside the raw driver.")
    parser.add_argument("--store", choices=("all", "sqlite", "postgresql"), default="all")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d} Python {sys.version.split()[0]}")
    with cases(given.store) as made:
        for name, opened, raw in made:
            ours, bare, cpu = [], [], []
            for _ in range(given.rounds):
                store = opened()
                store.upgrade()
                rate, used = drain(store, given.rows)
                store.close()
                ours.append(rate)
                cpu.append(used / given.rows * 1e6)
                bare.append(raw_drain(raw, given.rows))
            best = max(ours), max(bare)
            told = f"{name:<11} drain {given.rows:,} no-op jobs {best[0]:>9,.0f}/s"
            print(f"{told}  raw {best[1]:>9,.0f}/s  {best[0] / best[1]:.2f}  {min(cpu):.0f} us CPU")


if __name__ == "__main__":
    main()
