"""Jobs for a browser to watch: one that ticks, one that fails, one that never ends by itself."""

import asyncio
import logging
import os

from sempre import Retry, Sempre, current

__all__ = ["app"]

app = Sempre(os.environ.get("SEMPRE_STORE", "memory://"))
logger = logging.getLogger("shop")
LONG_NAME = "sync_the_inventory_of_every_warehouse_with_the_shops_of_all_countries_and_currencies"


@app.every("1s", tags=["health"])
def tick() -> str:
    """Run each second, so that pages have something to follow."""
    return "a result"


@app.cron("0 3 1 1 *", timezone="Europe/Rome", retry=Retry(0), tags=["billing"])
def fails(note: str = "of the test", api_key: str = "a-secret") -> None:
    """Fail at once."""
    logger.warning("about to fail")
    raise ConnectionError(f"no route to the bank {note} {len(api_key)}")


@app.cron("0 4 1 1 *", name=LONG_NAME, note="Ask Ann before a change.", tags=["stock", "nightly"])
async def never_ends() -> None:
    """Report progress until somebody cancels it."""
    current().progress(3, total=10, note="warehouse 3 of 10")
    await asyncio.Event().wait()
