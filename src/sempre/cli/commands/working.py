"""`sempre worker` and `dev`: the two commands that import the user's code, and run it."""

from collections.abc import Sequence
from typing import Any, cast

import click

from sempre.app import Sempre
from sempre.app.process.worker_processes import work
from sempre.cli.failing import Code
from sempre.cli.finding import Found, find_app
from sempre.cli.printing import talk
from sempre.cli.times import ago
from sempre.engine.events import Event, Happened
from sempre.errors import InvalidInput
from sempre.telemetry.logs import LogFormat, configure_logs

__all__ = ["Queues", "dev", "run_burst", "worker"]

FORMATS = click.Choice(["text", "json"])
LEVELS = click.Choice(["debug", "info", "warning", "error"])


class Queues(click.ParamType[Any]):
    """Names of queues, separated by commas."""

    name = "queues"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names; a usage error if there are none."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(filter(None, map(str.strip, str(value).split(",")))))
        return names or self.fail(f'no queue in "{value}"', param, ctx)


@click.command
@click.argument("app", required=False)
@click.option("-c", "--concurrency", type=click.IntRange(1), default=8, help="Jobs at once.")
@click.option("-q", "--queues", type=Queues(), help="Only these, by commas; else all declared.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    help="Each runs --concurrency jobs.",
)
@click.option("--burst", is_flag=True, help="Run what is due, then end; exit 1 if any failed.")
@click.option("--log-format", type=FORMATS, default="text", help="text (default) or json.")
@click.option("--log-level", type=LEVELS, default="info", help="debug shows every start.")
def worker(
    app: str | None,
    *,
    concurrency: int,
    queues: Sequence[str] | None,
    processes: int,
    burst: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Run jobs in production; SIGTERM drains.

    APP is module:attribute or a file. Worker processes that crash are started again. Any number
    of workers may run beside each other: each slot is run by one of them.
    """
    found = _ready(app, log_format, log_level)
    _tell_unserved(found.app, queues)
    if burst and processes > 1:
        raise InvalidInput("processes", processes, allowed="1 with --burst")
    if burst:
        failed = run_burst(found.app, queues=queues, concurrency=concurrency)
        raise click.exceptions.Exit(Code.UNHEALTHY if failed else Code.DONE)
    found.app.start(queues=queues, concurrency=concurrency, processes=processes)


@click.command
@click.argument("app", metavar="FILE", required=False)
@click.option("-c", "--concurrency", type=click.IntRange(1), default=8, help="Jobs at once.")
@click.option("-q", "--queues", type=Queues(), help="Only these, by commas; else all declared.")
@click.option("--log-format", type=FORMATS, default="text", help="text (default) or json.")
@click.option("--log-level", type=LEVELS, default="info", help="debug shows every start.")
def dev(
    app: str | None,
    *,
    concurrency: int,
    queues: Sequence[str] | None,
    log_format: str,
    log_level: str,
) -> None:
    """Run the jobs of a file, here and now.

    Worker and watchdog in this one process, a line for each execution. Ctrl-C ends it.
    """
    found = _ready(app, log_format, log_level)
    synced = found.app.sync()
    for name in synced.created:
        talk(f"created {name}")
    for name in synced.changed:
        talk(f"changed {name}")
    _tell_next(found.app)
    _tell_unserved(found.app, queues)
    if found.app.composition.can_fork:
        # The worker forks before it has threads or connections, so nothing may be open by then.
        found.app.close()
    work(found.app, queues=queues, concurrency=concurrency)


def run_burst(app: Sempre, *, queues: Sequence[str] | None, concurrency: int) -> bool:
    """Run what is due and return whether any of it failed."""
    failures: list[Event] = []
    app.events.listen(failures.append, Happened.FAILED)
    try:
        with app.running(queues=queues, concurrency=concurrency, burst=True) as running:
            running.wait_until_exhausted()
    finally:
        app.close()
    return bool(failures)


def _ready(named: str | None, log_format: str, log_level: str) -> Found:
    """Import the application, and let what happens in it be logged."""
    found = find_app(named)
    configure_logs(cast("LogFormat", log_format), level=log_level)
    found.app.narrate()
    talk(f"using {found.name} ({found.origin})")
    return found


def _tell_unserved(app: Sempre, queues: Sequence[str] | None) -> None:
    """Warn of queues that the code declares and -q leaves to other workers."""
    left = sorted(app.queues - {"default"} - set(queues)) if queues is not None else []
    if left:
        talk(f"warning: this worker leaves {', '.join(left)} to others: -q names the queues.")


def _tell_next(app: Sempre) -> None:
    """Say what will run next, so that whoever waits knows what for."""
    rows = [each for each in app.schedules if each.next_run_at is not None]
    now = app.engine.time.now()
    for row in sorted(rows, key=lambda each: each.next_run_at or now)[:5]:
        slot = ago(row.next_run_at or now, now)
        talk(f"  {row.name}: {row.definition.grid.explain()}; next {slot}")
    if not rows:
        talk("  no schedule has a next slot")
