"""What users write and the type checker must accept, with the types it must see."""

import sqlite3
from datetime import timedelta
from typing import assert_type

from sempre import Cron, Every, Retry, Sempre, current
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
