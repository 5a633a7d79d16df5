"""Recurring jobs on one SQLite file, no server needed.

    make run            # or: sempre dev examples/quickstart.py

Stop it with Ctrl-C and start it again: what was due meanwhile runs once, then it is back in the
present. Start it twice, in two terminals: each slot runs in one of them.
"""

import os

from sempre import Retry, Sempre, current

app = Sempre(os.environ.get("SEMPRE_STORE", "sqlite:///sempre.db"))


@app.every("5s")
def heartbeat() -> str:
    """Say when this slot was planned; the grid never drifts."""
    return f"slot {current().slot:%H:%M:%S}"


@app.cron("* * * * *", timezone="Europe/Rome", jitter="10s", tags=["report"])
async def minute_report() -> int:
    """Run at a steady point within the first ten seconds of every minute."""
    return current().attempt


@app.every("20s", retry=Retry(3, base="2s"), isolation="process", timeout="10s")
def flaky() -> None:
    """Fail at the first try and succeed at the second, in a process of its own each time."""
    if current().attempt == 1:
        raise ConnectionError("the other side hung up")


if __name__ == "__main__":
    app.start()
