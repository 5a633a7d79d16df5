"""Times the stores beside the raw driver doing the same writes, and prints ratios.

    python -m bench.stores                  # SQLite and PostgreSQL, the latter started here
    python -m bench.stores --store sqlite --rows 10000

"Raw" is what the driver does at best with the same rows in plain tables: one statement for the
whole batch where the server has one, one commit per batch, as durable as ours. Rounds are
interleaved (ours, raw, ours, raw, ...) so that a busy machine slows both; the best round counts.
"""

import argparse
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Protocol
from uuid import uuid4

import psycopg

from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.planning import Moment, plan_claim, plan_start, plan_success
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.grids import Every
from sempre.ports.messages import Birth, Order, Session, Settlement, Wanted, Work
from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.urls import open_store
from tests.integration.sql.postgresql_server import postgresql_server

BATCHES = (1, 10, 100, 1000)
TZDATA = "2026.1"
LEASE = timedelta(hours=1)
EVERYTHING = Wanted(frozenset({"default"}), frozenset({"work"}), 1)
SNAPSHOT = Snapshot(name="work", job="work")


class Raw(Protocol):
    """The same writes by the driver alone, on plain tables."""

    def insert(self, count: int) -> int: ...
    def take_and_finish(self, batch: int) -> int: ...
    def claim_and_finish(self, batch: int) -> int: ...


@dataclass
class Case:
    """One store, and the raw driver beside it."""

    name: str
    store: Store
    raw: Raw


# Ours


def new_id() -> str:
    return str(uuid4())


def works(count: int, now: datetime) -> list[Work]:
    row = Execution(
        id="",
        kind=Kind.ENQUEUED,
        run_at=now,
        due_at=now,
        created_at=now,
        snapshot=SNAPSHOT,
        state=State.SCHEDULED,
    )
    return [Work(replace(row, id=new_id())) for _ in range(count)]


def enqueue(store: Store, count: int) -> int:
    now = store.last_pass().now
    for start in range(0, count, 1000):
        store.enqueue(works(min(1000, count - start), now))
    return count


def births(count: int, now: datetime, prefix: str) -> list[Birth]:
    made = []
    since = now - timedelta(seconds=90)
    for number in range(count):
        schedule = Schedule(
            id=new_id(),
            name=f"{prefix}-{number}",
            definition=define(job="work", grid=Every("1m"), catch_up=True),
            created_at=since,
            cursor=since,
        )
        plan = plan_start(schedule, (), Moment(since, TZDATA))
        rows = tuple(
            replace(draft.born(new_id(), since), state=State.SCHEDULED) for draft in plan.creates
        )
        made.append(Birth(plan.schedule or schedule, rows))
    return made


def register(store: Store, count: int, prefix: str) -> None:
    now = store.last_pass().now
    for start in range(0, count, 1000):
        store.create(births(min(1000, count - start), now, f"{prefix}-{start}"))


def take_and_settle(store: Store, session: str, batch: int) -> int:
    reading = store.take(replace(EVERYTHING, limit=batch), session=session)
    moment = Moment(reading.now, TZDATA)
    done = [Settlement(row, plan_success(row, moment)) for row in reading.value]
    store.settle(done, session=session)
    return len(done)


def claim_and_settle(store: Store, session: str, batch: int) -> int:
    reading = store.due(replace(EVERYTHING, limit=batch))
    moment = Moment(reading.now, TZDATA)
    orders = []
    for candidate in reading.value:
        view = candidate.view
        if view is not None:
            claim = plan_claim(view.schedule, candidate.execution, view.rows, moment)
            orders.append(Order(claim.plan, tuple(new_id() for _ in claim.plan.creates)))
    started = [row for row in store.claim(orders, session=session) if row is not None]
    done = [Settlement(row, plan_success(row, moment)) for row in started]
    store.settle(done, session=session)
    return len(done)


# Raw

SCHEMA = """
CREATE TABLE runs (id TEXT PRIMARY KEY, schedule TEXT, state TEXT, due BIGINT, body TEXT);
CREATE INDEX runs_due ON runs (due) WHERE state = 'waiting';
CREATE TABLE plans (id TEXT PRIMARY KEY, cursor_at BIGINT, starts BIGINT, next_at BIGINT);
CREATE TABLE tries (id TEXT, fence BIGINT, finished BIGINT)
"""
BODY = '{"job":"work","args":{},"queue":"default","priority":1000,"retry":[0,10,600]}'


class RawSqlite:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        for statement in SCHEMA.split(";"):
            self._connection.execute(statement)

    @contextmanager
    def _commit(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        yield self._connection
        self._connection.execute("COMMIT")

    def insert(self, count: int) -> int:
        for start in range(0, count, 1000):
            rows = [(new_id(), new_id(), 1, BODY) for _ in range(min(1000, count - start))]
            with self._commit() as sql:
                sql.executemany("INSERT INTO runs VALUES (?, ?, 'waiting', ?, ?)", rows)
                plans = [(row[1], 0, 0, 1) for row in rows]
                sql.executemany("INSERT INTO plans VALUES (?, ?, ?, ?)", plans)
        return count

    def take_and_finish(self, batch: int) -> int:
        with self._commit() as sql:
            ids = sql.execute(
                "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
                " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT ?) RETURNING id",
                (batch,),
            ).fetchall()
        self._finish(ids)
        return len(ids)

    def claim_and_finish(self, batch: int) -> int:
        with self._commit() as sql:
            rows = sql.execute(
                "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
                " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT ?)"
                " RETURNING id, schedule",
                (batch,),
            ).fetchall()
            moved = [(row[1],) for row in rows]
            sql.executemany(
                "UPDATE plans SET cursor_at = 1, starts = starts + 1 WHERE id = ?", moved
            )
            following = [(new_id(), row[1], 9, BODY) for row in rows]
            sql.executemany("INSERT INTO runs VALUES (?, ?, 'waiting', ?, ?)", following)
        self._finish([row[:1] for row in rows])
        return len(rows)

    def _finish(self, ids: Sequence[tuple[str]]) -> None:
        with self._commit() as sql:
            sql.executemany("UPDATE runs SET state = 'done' WHERE id = ?", ids)
            sql.executemany("INSERT INTO tries VALUES (?, 1, 1)", ids)


class RawPostgresql:
    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)
        with self._connection.transaction():
            for statement in SCHEMA.split(";"):
                self._connection.execute(statement.encode())

    def insert(self, count: int) -> int:
        for start in range(0, count, 1000):
            size = min(1000, count - start)
            ids, plans = [new_id() for _ in range(size)], [new_id() for _ in range(size)]
            with self._connection.transaction():
                self._connection.execute(
                    "INSERT INTO runs SELECT i, p, 'waiting', 1, %s"
                    " FROM unnest(%s::text[], %s::text[]) AS x (i, p)",
                    (BODY, ids, plans),
                )
                self._connection.execute(
                    "INSERT INTO plans SELECT p, 0, 0, 1 FROM unnest(%s::text[]) AS p", (plans,)
                )
        return count

    def take_and_finish(self, batch: int) -> int:
        ids = [row[0] for row in self._claim(batch)]
        self._connection.commit()
        self._finish(ids)
        return len(ids)

    def claim_and_finish(self, batch: int) -> int:
        rows = self._claim(batch)
        plans = [row[1] for row in rows]
        self._connection.execute(
            "UPDATE plans SET cursor_at = 1, starts = starts + 1 WHERE id = ANY(%s)", (plans,)
        )
        self._connection.execute(
            "INSERT INTO runs SELECT i, p, 'waiting', 9, %s"
            " FROM unnest(%s::text[], %s::text[]) AS x (i, p)",
            (BODY, [new_id() for _ in rows], plans),
        )
        self._connection.commit()
        self._finish([row[0] for row in rows])
        return len(rows)

    def _claim(self, batch: int) -> list[Any]:
        return self._connection.execute(
            "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
            " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT %s FOR UPDATE SKIP LOCKED)"
            " RETURNING id, schedule",
            (batch,),
        ).fetchall()

    def _finish(self, ids: list[str]) -> None:
        self._connection.execute("UPDATE runs SET state = 'done' WHERE id = ANY(%s)", (ids,))
        self._connection.execute(
            "INSERT INTO tries SELECT i, 1, 1 FROM unnest(%s::text[]) i", (ids,)
        )
        self._connection.commit()


# Timing


def timed(work: Callable[[], int]) -> float:
    """Return rows per second."""
    began = perf_counter()
    done = work()
    return done / (perf_counter() - began)


def repeated(work: Callable[[], int], times: int) -> int:
    return sum(work() for _ in range(times))


def show(case: Case, what: str, ours: Sequence[float], raw: Sequence[float]) -> None:
    best, bare = max(ours), max(raw)
    print(f"{case.name:<11} {what:<34} {best:>10,.0f}/s {bare:>10,.0f}/s {best / bare:>7.2f}")


def interleaved(
    ours: Callable[[], int], raw: Callable[[], int], rounds: int
) -> tuple[list[float], list[float]]:
    """Return the rates of both, measured in turns."""
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        rates[0].append(timed(ours))
        rates[1].append(timed(raw))
    return rates


def measure(case: Case, rows: int, rounds: int) -> None:
    store, raw = case.store, case.raw
    session = new_id()
    store.register(Session(id=session), lease=LEASE)
    made = interleaved(partial(enqueue, store, rows), partial(raw.insert, rows), rounds)
    show(case, f"enqueue {rows:,}", *made)
    for batch in BATCHES:
        times = max(1, min(20, rows // (4 * batch)))
        taken = interleaved(
            partial(repeated, partial(take_and_settle, store, session, batch), times),
            partial(repeated, partial(raw.take_and_finish, batch), times),
            rounds,
        )
        show(case, f"take + settle, batches of {batch}", *taken)
    for batch in BATCHES:
        times = max(1, min(20, rows // (4 * batch)))
        for turn in range(rounds):
            register(store, batch * times, f"s{batch}-{turn}")
            raw.insert(batch * times)
        claimed = interleaved(
            partial(repeated, partial(claim_and_settle, store, session, batch), times),
            partial(repeated, partial(raw.claim_and_finish, batch), times),
            rounds,
        )
        show(case, f"claim + successor + settle, {batch}", *claimed)
    measure_pass(case)


def measure_pass(case: Case) -> None:
    """Print what the two questions of a healthy pass cost, whatever the number of schedules."""
    began = perf_counter()
    for _ in range(20):
        case.store.astray(tzdata=TZDATA, limit=500)
    seconds = (perf_counter() - began) / 20
    print(f"{case.name:<11} {'what is astray, one probe':<34} {seconds * 1000:>10.2f} ms")


@contextmanager
def cases(wanted: str) -> Iterator[list[Case]]:
    with TemporaryDirectory() as folder, postgresql_server() as url:
        made = []
        if wanted in ("all", "sqlite"):
            ours = open_store(f"sqlite:///{folder}/ours.db")
            made.append(Case("SQLite", ours, RawSqlite(Path(folder) / "raw.db")))
        if wanted in ("all", "postgresql"):
            made.append(Case("PostgreSQL", SqlStore(Postgresql(url)), RawPostgresql(url)))
        for case in made:
            case.store.upgrade()
        yield made
        for case in made:
            case.store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the stores beside the raw driver.")
    parser.add_argument("--store", choices=("all", "sqlite", "postgresql"), default="all")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(
        f"{datetime.now(UTC):%Y-%m-%d} Python {sys.version.split()[0]}, SQLite and FULL, fsync on"
    )
    print(f"{'':<11} {'':<34} {'ours':>12} {'raw':>12} {'ratio':>7}")
    with cases(given.store) as made:
        for case in made:
            measure(case, given.rows, given.rounds)


if __name__ == "__main__":
    main()
