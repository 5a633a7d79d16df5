"""A cron daemon in one file that runs on many machines at once, each job on exactly one of them.

    python examples/allora.py redis://redis.lan     # on every machine

Allora's promise: if a job is due at midnight, the daemon is stopped at 23:59 and started again at
00:01, the midnight job still runs; then the schedule is back in the present.
"""

import subprocess
import sys

from sempre import Cron, Every, Sempre

app = Sempre(sys.argv[1] if len(sys.argv) > 1 else "redis://127.0.0.1")


@app.job(isolation="process")
def empty_cache() -> None:
    """Run a command in a child process: if it crashes, the daemon does not."""
    subprocess.run(["true"], check=True)  # noqa: S607 - rm -f /path/to/cache/*


@app.job
def update_stats() -> None:
    """Hand the work on to whatever does it."""


app.add("empty_cache", Every("1h"), empty_cache)
app.add("update_stats", Cron("0 2,14 * * *"), update_stats)
app.add("every-few-seconds", Every("5s"), empty_cache)

if __name__ == "__main__":
    app.start()
