"""What users write and the type checker must accept, with the types it must see."""

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, assert_type

from sempre import Cron, Every, Retry, Sempre, Unique, current
from sempre.app import Call, Receipt
from sempre.domain.execution import Execution
from sempre.testing import TimeTravel

app = Sempre("memory://", lease="1m", watchdog_interval=60)


@app.job
def plain(region: str, *, full: bool = False) -> int:
    return len(region) + full


@app.job(isolation="process", memory="512MB")
def heavy() -> None: ...


@app.every("15m", jitter="30s", overlap="skip", tags=["cache"])
def refresh_cache() -> None: ...


@app.every(2, "weeks", anchor="2026-01-31 09:00", timezone="Europe/Rome")
def fortnightly() -> None: ...


@app.cron("0 2,14 * * *", timezone="Europe/Rome", retry=Retry(5, base="10s"), timeout="20m")
async def update_stats(region: str = "all") -> int:
    return len(region)


assert_type(plain("eu", full=True), int)
assert_type(plain.bind("eu"), Call[int])
assert_type(plain.enqueue("eu", full=True), Receipt[int])
assert_type(plain.options(delay="10m").enqueue(region="eu"), Receipt[int])
assert_type(update_stats.enqueue("eu"), Receipt[int])
assert_type(update_stats.bind(region="eu"), Call[int])


async def in_place() -> None:
    assert_type(await update_stats("eu"), int)


app.add("stats-eu", Cron("30 2 * * *"), update_stats.bind(region="eu"))
app.add("splash", Every(timedelta(hours=12)), lambda: print("splash"))  # noqa: T201
app.schedule("stats-eu").pause(until="2h", note="migration")
app.schedule("stats-eu").edit(priority=5, retry=3)


def with_its_own_rows(connection: sqlite3.Connection) -> None:
    assert_type(plain.options(tx=connection).enqueue("eu"), Receipt[int])
    with app.transaction(connection):
        assert_type(plain.enqueue("eu"), Receipt[int])


@app.job
def pay(amount: int) -> None:
    current().tx.execute("INSERT INTO payments VALUES (?)", (amount,))


with app.testing("2026-03-29 00:00Z") as t:
    assert_type(t, TimeTravel)
    t.travel(timedelta(hours=12))
    t.takes(update_stats, "10m")
    assert_type(t.executions(update_stats, state="failed"), list[Execution])
    assert_type(t.assert_enqueued(plain, "eu", full=True), Execution)
    t.assert_enqueued(update_stats)
    t.assert_ran("stats-eu", times=1)


# Work that is put in by itself

receipt = plain.enqueue("eu")
assert_type(receipt.created, bool)
assert_type(receipt.rejected_by, str)
assert_type(receipt.wait("10s"), int)
assert_type(receipt.cancel(), bool)
assert_type(plain.options(unique=["region"]).enqueue("eu"), Receipt[int])
assert_type(plain.options(unique=Unique(within="1h")).enqueue("eu"), Receipt[int])
assert_type(plain.options(at="2026-03-29 00:00Z", queue="slow", priority=5)("eu"), int)
many = app.enqueue_many([plain.bind("eu"), update_stats.bind(), heavy], spread="10m", unique=True)
assert_type(many, list[Receipt[Any]])
assert_type(app.enqueue_many(plain.bind(name) for name in ("eu", "us")), list[Receipt[Any]])


async def without_blocking() -> None:
    sent = await plain.aenqueue("eu", full=True)
    assert_type(sent, Receipt[int])
    assert_type(await sent.wait_async(), int)


# Pairs: a query stays the function that it is.


@plain.pair(every="1m", spread="30s", batch=500, jitter="5s", tags=["derived"])
def pending() -> str:
    return "SELECT region FROM stale"


@plain.pair(cron="*/5 * * * *", timezone="Europe/Rome", spread="30s")
def pending_on_a_cron() -> list[str]:
    return ["eu"]


@update_stats.pair(
    every=timedelta(minutes=5),
    shards=4,
    done=lambda region: region == "eu",
    contract=lambda shard: [shard],
    slo="10m",
    database=lambda: sqlite3.connect("stats.db"),
)
def stale(shard: int, shards: int) -> Iterator[Call[int]]:
    yield update_stats.bind(str(shard % shards))


assert_type(pending(), str)
assert_type(list(stale(shard=1, shards=4)), list[Call[int]])


# Switches and gates

app.switch(plain).off("incident", mode="reject", until=timedelta(hours=2))
assert_type(app.switch("queue:slow").is_off, bool)


@app.gate
def flags(job: str, args: Mapping[str, object]) -> str | None:
    return "off" if job in args else None
