"""Pictures of the command line: `make pictures` draws docs/images from a store made for it.

Each command runs on a pseudo-terminal of 80 and of 140 columns; what it prints becomes an SVG.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from sempre import Cron, Every, Sempre
from sempre.clock import SystemClock
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.engine.ids import new_id
from sempre.grids.grid import Grid
from sempre.ports.messages import Birth, Report, Session, Work

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
WIDTHS = (80, 140)
COMMANDS = {
    "list": ["list"],
    "show": ["show", "update_stats", "-n", "6"],
    "status": ["status"],
    "top": ["top", "--once"],
    "executions": ["executions", "-n", "12"],
    "queues": ["queues"],
    "workers": ["workers"],
}
ROME = "Europe/Rome"
SCHEDULES: dict[str, tuple[Grid, str, dict[str, object]]] = {
    "refresh_cache": (Every("15m"), "..:.|..:....:..|..:...:..", {"tags": ["cache"]}),
    "update_stats": (Cron("0 2,14 * * *", timezone=ROME), "|:||:|:||||:||x", {"queue": "reports"}),
    "import_orders": (Every("1m"), ":::::::::::x:::::::::::::::::x", {"timeout": "10m"}),
    "bill": (Every("1 month", anchor="2026-01-31 09:00", timezone=ROME), "|||||", {}),
    "send_newsletter": (Cron("30 8 * * 1", timezone=ROME), "||:|", {"queue": "mail"}),
    "vacuum": (Cron("0 3 * * *", timezone=ROME), "::::::::::", {}),
    "sync_inventory_of_all_warehouses": (Every("5m"), ".:::.:::::..::::::.:::::::::::", {}),
    "rotate_keys": (Cron("0 0 1 * *", timezone=ROME), "", {}),
    "old_report": (Cron("0 6 * * *", timezone=ROME), ".....", {"enabled": False}),
}
WORKERS = [f"{each}c1f0a9e-5d0e-4c5b-9b6e-0a12f3d4c5b6" for each in "38e"]
RUNNING = {
    "import_orders": (0, timedelta(seconds=47)),
    "sync_inventory_of_all_warehouses": (1, timedelta(minutes=4)),
}
"""Whose latest execution runs: its worker, and for how long."""
PAUSES = {"vacuum": Pause(note="migration", actor="ann")}
ERROR = "error: ConnectionError: no route to warehouse.example (attempt 3 of 3)"
FEW = 20
SECONDS = {".": 0.4, ":": 9, "|": 31, "x": 3.1}


def main() -> None:
    """Draw every picture, and print its name."""
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/jobs.db"
        _fill(url)
        for name, words in COMMANDS.items():
            for width in WIDTHS:
                text = _printed([*words, "--store", url], width, Path(folder))
                picture = IMAGES / f"{name}-{width}.svg"
                picture.write_text(_svg(f"sempre {' '.join(words)}", text, width))
                print(picture.relative_to(ROOT))


def _fill(url: str) -> None:
    """Make a store with schedules, a past, runs under way, a backlog and failures."""
    app = Sempre(url, retention="10000d")
    store, now = app.engine.store, SystemClock().now()
    app.sync()
    for number, queues in enumerate([("default", "mail"), ("default",), ("default",)]):
        session = Session(
            id=WORKERS[number],
            host=f"worker-{number % 2 + 1}.example",
            pid=4100 + 7 * number,
            queues=queues,
            jobs=tuple(SCHEDULES),
            tzdata=app.engine.tzdata,
            release=12,
        )
        store.register(session, lease=timedelta(minutes=10))
    store.drain(WORKERS[2:])
    store.create([_birth(name, now, app.engine.tzdata) for name in SCHEDULES])
    [run] = store.running(WORKERS[0]).value
    report = Report(run.id, run.fence, 310, 1000, "page 31 of 100")
    store.report([report], session=WORKERS[0])

    store.enqueue([_invoice(now - timedelta(minutes=12)) for _ in range(1280)])
    app.switch("job:send_newsletter").off("wrong template", mode="hold")
    app.watchdog.perform()
    app.close()


def _birth(name: str, now: datetime, tzdata: str) -> Birth:
    """Return a schedule with its past, drawn by its marks, and its next row."""
    grid, marks, options = SCHEDULES[name]
    next_run_at = grid.after(now)
    schedule = Schedule(
        id=new_id(now),
        name=name,
        definition=define(job=name, grid=grid, **options),
        created_at=now - timedelta(days=200),
        cursor=now - timedelta(milliseconds=1),
        started=True,
        pause=PAUSES.get(name),
        next_run_at=next_run_at if options.get("enabled", True) else None,
    )
    rows = [_ended(schedule, slot, mark) for slot, mark in _past(grid, marks, now)]
    if name in RUNNING:
        rows[-1] = _running(rows[-1], *RUNNING[name], now=now)
    if next_run_at and schedule.next_run_at and name not in PAUSES:
        rows.append(_row(schedule, next_run_at, tzdata=tzdata, actor="code"))
    return Birth(replace(schedule, next_run_at=None) if name in PAUSES else schedule, tuple(rows))


def _past(grid: Grid, marks: str, now: datetime) -> Iterator[tuple[datetime, str]]:
    """Yield the latest slots of a grid, one for each mark, oldest first."""
    is_frequent = len(marks) > FEW
    begin = now - (timedelta(hours=8) if is_frequent else timedelta(days=2400))
    slots = list(grid.between(begin, now))[-len(marks) :] if marks else []
    return zip(slots, marks, strict=True)


def _row(schedule: Schedule, slot: datetime, **fields: object) -> Execution:
    values = {"state": State.SCHEDULED, "created_at": slot, "id": new_id(slot), **fields}
    return Execution(
        kind=Kind.SCHEDULED,
        run_at=slot,
        due_at=slot,
        snapshot=schedule.snapshot(),
        schedule_id=schedule.id,
        **values,  # type: ignore[arg-type]
    )


def _invoice(due_at: datetime) -> Work:
    """Return a piece of one-off work in a queue that no worker serves."""
    rules = Snapshot(name="export_invoice", job="export_invoice", queue="exports")
    row = Execution(
        id=new_id(due_at),
        kind=Kind.ENQUEUED,
        run_at=due_at,
        due_at=due_at,
        snapshot=rules,
        state=State.SCHEDULED,
        created_at=due_at,
    )
    return Work(row)


def _ended(schedule: Schedule, slot: datetime, mark: str) -> Execution:
    begun = slot + timedelta(milliseconds=14)
    has_failed = mark == "x"
    return _row(
        schedule,
        slot,
        state=State.FAILED if has_failed else State.SUCCEEDED,
        reason=ERROR if has_failed else "",
        actor="code",
        attempt=3 if has_failed else 1,
        failures=3 if has_failed else 0,
        first_started_at=begun,
        started_at=begun,
        finished_at=begun + timedelta(seconds=SECONDS[mark]),
    )


def _running(row: Execution, worker: int, elapsed: timedelta, *, now: datetime) -> Execution:
    begun = now - elapsed
    return replace(
        row,
        state=State.RUNNING,
        attempt=1,
        failures=0,
        reason="",
        first_started_at=begun,
        started_at=begun,
        finished_at=None,
        fence=900 + worker,
        session=WORKERS[worker],
    )


def _printed(words: list[str], width: int, folder: Path) -> str:
    """Return what a command prints on a terminal, stderr included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    subprocess.run(
        [sys.executable, "-m", "sempre", *words],
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width)},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        check=False,
    )
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65_536):
            text += part
    except OSError:
        # What a terminal answers when its other end is closed and all is read.
        pass
    os.close(ours)
    return text.decode()


def _svg(title: str, text: str, width: int) -> str:
    """Return a text with colours as a picture; its fonts are those of the reader."""
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text.replace("\r\n", "\n").rstrip("\n") + "\n"), overflow="ignore")
    form = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title=title, code_format=form)


if __name__ == "__main__":
    main()
