"""`sempre worker`: run the jobs of an application in production."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import click

from sempre.app import Sempre
from sempre.cli.app_loader import LoadedApp, load_app
from sempre.cli.errors import ExitCode
from sempre.cli.options import count_option
from sempre.cli.output import inform
from sempre.engine.events import Event, Happened
from sempre.errors import InvalidInput
from sempre.executors.current import run_fields
from sempre.telemetry.logs import LogFormat, configure_logs

__all__ = ["load_and_log", "run_burst", "warn_of_unserved_queues", "worker", "worker_options"]

Function = Callable[..., Any]
FORMATS = click.Choice(["text", "json"])
LEVELS = click.Choice(["debug", "info", "warning", "error"])


class _Queues(click.ParamType[Any]):
    """Names of queues, separated by commas."""

    name = "queues"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names; a usage error without any."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(filter(None, map(str.strip, str(value).split(",")))))
        return names or self.fail(f'no queue in "{value}"', param, ctx)


def worker_options(function: Function) -> Function:
    """Give a command the options that `worker` and `dev` share."""
    options = (
        count_option("-c", "--concurrency", what="Jobs that run at the same time", default=8),
        click.option(
            "-q",
            "--queues",
            type=_Queues(),
            help="Queues to serve, separated by commas; default all declared queues.",
        ),
        click.option(
            "--log-format", type=FORMATS, default="text", help="Form of log lines; default text."
        ),
        click.option(
            "--log-level",
            type=LEVELS,
            default="info",
            help="Least severe lines to log; default info; debug logs every start.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command
@click.argument("app", required=False)
@worker_options
@count_option("--processes", what="Worker processes; each runs --concurrency jobs", default=1)
@click.option(
    "--metrics",
    metavar="HOST:PORT",
    help="Serve /metrics, /healthz and /readyz on this address; default none.",
)
@click.option("--burst", is_flag=True, help="Run due work, then end; exit 1 if any run failed.")
def worker(
    app: str | None,
    *,
    concurrency: int,
    queues: Sequence[str] | None,
    processes: int,
    metrics: str | None,
    burst: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Run jobs in production.

    APP is module:attribute or a file. SIGTERM lets running jobs finish. A worker process that
    crashes is restarted. Any number of workers may run side by side: one of them runs each slot.
    """
    loaded = load_and_log(app, log_format, log_level)
    warn_of_unserved_queues(loaded.app, queues)
    if burst and processes > 1:
        raise InvalidInput("processes", processes, allowed="1 with --burst")
    if burst and metrics:
        raise InvalidInput("metrics", metrics, allowed="no address with --burst")
    if burst:
        failed = run_burst(loaded.app, queues=queues, concurrency=concurrency)
        raise click.exceptions.Exit(ExitCode.UNHEALTHY if failed else ExitCode.DONE)
    loaded.app.start(queues=queues, concurrency=concurrency, processes=processes, metrics=metrics)


def run_burst(app: Sempre, *, queues: Sequence[str] | None, concurrency: int) -> bool:
    """Run due work and return whether any run failed."""
    failures: list[Event] = []
    app.events.listen(failures.append, Happened.FAILED)
    try:
        with app.running(queues=queues, concurrency=concurrency, burst=True) as running:
            running.wait_until_exhausted()
    finally:
        app.close()
    return bool(failures)


def load_and_log(name: str | None, log_format: str, log_level: str) -> LoadedApp:
    """Load the application, and configure the log of its events."""
    loaded = load_app(name)
    configure_logs(cast("LogFormat", log_format), level=log_level, run_fields=run_fields)
    loaded.app.narrate()
    inform(f"using {loaded.name} ({loaded.origin})")
    return loaded


def warn_of_unserved_queues(app: Sempre, queues: Sequence[str] | None) -> None:
    """Warn of declared queues that -q leaves out."""
    left = sorted(app.queues - {"default"} - set(queues)) if queues is not None else []
    if left:
        queue = "queue" if len(left) == 1 else "queues"
        names = ", ".join(left)
        inform(f"warning: this worker does not serve the {queue} {names}, which -q leaves out.")
