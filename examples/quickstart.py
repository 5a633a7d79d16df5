"""Recurring jobs on one SQLite file, no server needed, with something to see on every page.

    make run            # or: sempre dev examples/quickstart.py

The dashboard is at http://127.0.0.1:8000. Stop with Ctrl-C and start again: what was due meanwhile
runs once, then the schedules are back in the present. Start it twice, in two terminals: each slot
runs in one of them.
"""

import asyncio
import logging
import os
from collections.abc import Iterator

from sempre import Call, Concurrency, Cron, Every, Retry, Sempre, current

app = Sempre(os.environ.get("SEMPRE_STORE", "sqlite:///sempre.db"))
logger = logging.getLogger("quickstart")
STEPS = 24


@app.every("5s", tags=["health"])
def heartbeat() -> str:
    """Say when this slot was planned; the grid never drifts."""
    return f"slot {current().slot:%H:%M:%S}"


@app.cron("* * * * *", timezone="Europe/Rome", jitter="10s", tags=["report"])
async def minute_report() -> int:
    """Run at a steady point within the first ten seconds of every minute."""
    return current().attempt


@app.every("20s", retry=Retry(3, base="2s"), isolation="process", timeout="10s", tags=["mail"])
def flaky() -> None:
    """Fail at the first try and succeed at the second, in a process of its own each time."""
    if current().attempt == 1:
        raise ConnectionError("the other side hung up")


@app.every("30s", tags=["billing"])
def charge_cards() -> None:
    """Fail always, so that the dashboard has a failing schedule to show."""
    logger.info("connecting to the bank")
    logger.warning("the bank answers slowly")
    raise TimeoutError("the bank did not answer within 5 s; password=hunter2")


@app.every("40s", overlap="skip", tags=["report"])
async def export_orders(region: str = "eu", api_key: str = "a-secret-value") -> dict[str, int]:
    """Work for a while, and report progress."""
    run = current()
    for step in range(STEPS):
        run.progress(step, total=STEPS, note=f"orders of {region}, page {step + 1}")
        await asyncio.sleep(1)
    logger.info("exported with a key of %d characters", len(api_key))
    return {"orders": 42 * STEPS}


@app.job(unique=["database_id"], limit=Concurrency(2), tags=["provisioning"])
async def create_database(database_id: int) -> str:
    """Take seconds, at most two at once over the whole fleet."""
    await asyncio.sleep(3)
    return f"database {database_id}"


@create_database.pair(every="30s")
def pending_databases() -> Iterator[Call[str]]:
    """Yield what should exist: here, always the same five."""
    for database_id in range(1, 6):
        yield create_database.bind(database_id)


app.add(
    "orders-us", Cron("30 2 * * *", timezone="America/New_York"), export_orders.bind(region="us")
)
app.add("month-end", Every("1 month", anchor="2026-01-31 09:00", timezone="Europe/Rome"), heartbeat)

if __name__ == "__main__":
    app.start()
