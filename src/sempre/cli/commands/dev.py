"""`sempre dev`: worker and watchdog in one process, in this terminal."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from sempre.app import Sempre
from sempre.app.process.worker_processes import work
from sempre.cli.commands.worker import load_and_log, warn_of_unserved_queues, worker_options
from sempre.cli.output import inform
from sempre.cli.reloading import run_reloading
from sempre.cli.times import format_age

__all__ = ["dev"]

SHOWN = 5


@click.command
@click.argument("app", metavar="FILE", required=False)
@worker_options
@click.option("--reload", is_flag=True, help="Restart when a Python file changes.")
def dev(
    app: str | None,
    *,
    reload: bool,
    concurrency: int,
    queues: Sequence[str] | None,
    log_format: str,
    log_level: str,
) -> None:
    """Run jobs in this terminal, for development.

    Worker and watchdog run in one process, which logs a line for each execution. Ctrl-C ends it.
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
    work(loaded.app, queues=queues, concurrency=concurrency)


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
