"""`sempre top`: a live screen of runs, failures, queues and workers."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING

import click

from sempre.app.presentation.executions import EXECUTION
from sempre.app.presentation.fleet import QUEUE, WORKER
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options
from sempre.cli.top.frame import Frame, FrameReader
from sempre.errors import StoreError

if TYPE_CHECKING:
    from rich.console import Console

    from sempre.cli.top.screen import Screen

__all__ = ["top"]

REST = 1.0
MOST_GRIDS = 1_000
PIPE_WIDTH = 120
ROWS_AT_LEAST = 3
# Lines besides the rows of the five parts: titles, blank lines and health.
FRAME_LINES = 20


@click.command
@click.option("--once", is_flag=True, help="Print one frame and end, as in a pipe.")
@context_options
def top(context: CommandContext, *, once: bool) -> None:
    """Watch runs, failures, queues and workers live.

    The screen is renewed each second; `q` or Ctrl-C ends it. A pipe gets one plain frame.
    """
    reader = FrameReader(context)
    context.choose_zone(each.definition.grid for each in islice(context.app.schedules, MOST_GRIDS))
    if context.output.as_json:
        context.output.json(_frame_json(context, reader.read()))
        return
    # Imported here: no other command needs rich.
    from rich.console import Console  # noqa: PLC0415

    if once or not context.output.is_terminal:
        width = context.output.width or PIPE_WIDTH
        console = Console(width=width, highlight=False)
        with console.capture() as captured:
            console.print(_screen(context).draw(reader.read(), width))
        for line in captured.get().splitlines():
            click.echo(line.rstrip())
        return
    _watch(context, reader, Console(highlight=False))


def _watch(context: CommandContext, reader: FrameReader, console: "Console") -> None:
    """Draw frame after frame until `q` or Ctrl-C."""
    from rich.live import Live  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    with (
        _keys() as is_quit_within,
        Live(console=console, screen=True, auto_refresh=False) as live,
    ):
        while True:
            try:
                rows = max(ROWS_AT_LEAST, (console.height - FRAME_LINES) // 5)
                screen = _screen(context, rows)
                live.update(screen.draw(reader.read(), console.width), refresh=True)
            except StoreError as error:
                live.update(Text(f"the store does not answer: {error}", style="red"), refresh=True)
            if is_quit_within(REST):
                return


def _screen(context: CommandContext, rows: int = 5) -> "Screen":
    from sempre.cli.top.screen import Screen  # noqa: PLC0415 - as above

    return Screen(context.output.table_zone, context.redact, rows=rows)


@contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for a time, and returns whether `q` was pressed."""
    if not sys.stdin.isatty():
        # Waiting for an event, which is never set, ends at Ctrl-C.
        yield Event().wait
        return
    import select  # noqa: PLC0415 - only on a terminal
    import termios  # noqa: PLC0415 - as above
    import tty  # noqa: PLC0415 - as above

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)

    def is_quit_within(seconds: float) -> bool:
        ready = select.select([terminal], [], [], seconds)[0]
        return bool(ready) and sys.stdin.read(1) in ("q", "Q", "")

    try:
        yield is_quit_within
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _frame_json(context: CommandContext, frame: Frame) -> dict[str, object]:
    redact = context.redact
    return {
        "healthy": frame.healthy,
        "problems": [each.to_json() for each in frame.problems],
        "running": [EXECUTION.json(run.execution, redact) for run in frame.runs],
        "next": [EXECUTION.json(row, redact) for row in frame.upcoming],
        "failed": [EXECUTION.json(row, redact) for row in frame.failures],
        "queues": [QUEUE.json(each) for each in frame.queues],
        "workers": [WORKER.json(each) for each in frame.workers],
    }
