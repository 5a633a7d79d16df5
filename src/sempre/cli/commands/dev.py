"""`sempre dev`: worker, watchdog and dashboard in one process, in this terminal."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from sempre.app import Sempre
from sempre.app.dashboards import ServerOptions, thread_of_dashboard
from sempre.app.process.worker_processes import work
from sempre.app.times import format_age
from sempre.cli.commands.worker import load_and_log, warn_of_unserved_queues, worker_options
from sempre.cli.options import count_option
from sempre.cli.output import inform
from sempre.cli.reloading import run_reloading
from sempre.errors import MissingExtra

__all__ = ["dev"]

SHOWN = 5


@click.command
@click.argument("app", metavar="FILE", required=False)
@worker_options
@click.option("--reload", is_flag=True, help="Restart when a Python file changes.")
@click.option("--no-dashboard", is_flag=True, help="Run without the dashboard.")
@count_option("--port", what="Port of the dashboard, if it is free", default=8000, most=65_535)
def dev(
    app: str | None,
    *,
    reload: bool,
    no_dashboard: bool,
    port: int,
    concurrency: int,
    queues: Sequence[str] | None,
    log_format: str,
    log_level: str,
) -> None:
    """Run jobs in this terminal, for development.

    Worker, watchdog and dashboard run in one process, which logs a line for each execution. The
    dashboard is at http://127.0.0.1:8000, or at another free port if that one is taken. Ctrl-C ends
    all of them.
    """
    if reload:
        arguments = [each for each in sys.argv[1:] if each != "--reload"]
        raise click.exceptions.Exit(run_reloading(arguments, _folders(app)))
    loaded = load_and_log(app, log_format, log_level)
    synced = loaded.app.sync()
    for name in synced.created:
        inform(f"created {name}")
    for name in synced.changed:
        inform(f"changed {name}")
    _report_next_slots(loaded.app)
    warn_of_unserved_queues(loaded.app, queues)
    if loaded.app.composition.can_fork:
        # The worker forks before it has threads or connections: none may be open by then.
        loaded.app.close()
    begun = None if no_dashboard else partial(_open_dashboard, loaded.app, port)
    work(loaded.app, queues=queues, concurrency=concurrency, begun=begun)


def _open_dashboard(app: Sempre, port: int) -> None:
    """Serve the dashboard by a thread: the worker has forked by now, and has threads itself."""
    try:
        thread = thread_of_dashboard(app, ServerOptions(port=port, title="development"))
    except MissingExtra as error:
        inform(f"no dashboard: {error}")
    else:
        inform(f"dashboard at {thread.url}")


def _folders(app: str | None) -> list[Path]:
    """Return the folders of the application: this one, and that of its file."""
    here = Path.cwd()
    file = (here / (app or "").partition(":")[0]).resolve()
    beside = file.suffix == ".py" and not file.is_relative_to(here)
    return [here, file.parent] if beside else [here]


def _report_next_slots(app: Sempre) -> None:
    rows = [(each.next_run_at, each) for each in app.schedules if each.next_run_at is not None]
    now = app.engine.time.now()
    for slot, row in sorted(rows, key=lambda pair: pair[0])[:SHOWN]:
        inform(f"  {row.name}: {row.definition.grid.explain()}; next {format_age(slot, now)}")
    if not rows:
        inform("  no schedule has a next slot")
