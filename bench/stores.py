"""Times the stores beside the raw driver doing the same writes, and prints ratios.

    python -m bench.stores                  # SQLite and PostgreSQL, the latter started here
    python -m bench.stores --store sqlite --rows 10000

"Raw" is what the driver does at best with the same rows in plain tables: one statement for the
whole batch where the server has one, one commit per batch, as durable as ours. Rounds are
interleaved (ours, raw, ours, raw, ...) so that a busy machine slows both; the best round counts.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.raw import Raw, RawPostgresql, RawSqlite, new_id
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime, plan_claim, plan_start
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.grids import Every
from sempre.ports.messages import Birth, Order, Session, Success, Wanted, Work
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


@dataclass
class Case:
    """One store, and the raw driver beside it."""

    name: str
    store: Store
    raw: Raw


# Ours


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
        plan = plan_start(schedule, (), PlanningTime(since, TZDATA))
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
    reading = store.claim_one_off(replace(EVERYTHING, limit=batch), session=session)
    moment = PlanningTime(reading.now, TZDATA)
    done = [Success(row, moment.now) for row in reading.value]
    store.settle(done, session=session)
    return len(done)


def claim_and_settle(store: Store, session: str, batch: int) -> int:
    reading = store.due(replace(EVERYTHING, limit=batch))
    moment = PlanningTime(reading.now, TZDATA)
    orders = []
    for candidate in reading.value:
        view = candidate.view
        if view is not None:
            claim = plan_claim(view.schedule, candidate.execution, view.rows, moment)
            orders.append(Order(claim.plan, tuple(new_id() for _ in claim.plan.creates)))
    started = [row for row in store.claim(orders, session=session) if row is not None]
    done = [Success(row, moment.now) for row in started]
    store.settle(done, session=session)
    return len(done)


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
        case.store.needing_repair(tzdata=TZDATA, limit=500)
    seconds = (perf_counter() - began) / 20
    print(f"{case.name:<11} {'what needs repair, one probe':<34} {seconds * 1000:>10.2f} ms")


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
