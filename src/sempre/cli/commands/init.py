"""`sempre init`: a first jobs.py, and the settings of its folder."""

import tomllib
from pathlib import Path

import click

from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import output_options
from sempre.cli.output import Output, inform

__all__ = ["init"]

JOBS = '''"""The jobs of this folder. Run them here: sempre dev"""

from sempre import Sempre, current

# The store is named in pyproject.toml under [tool.sempre], or by $SEMPRE_STORE in production:
# a SQLite file, PostgreSQL, MariaDB or Redis.
app = Sempre()


# Every 10 seconds, on every machine that runs a worker: one of them runs each slot.
@app.every("10s")
def heartbeat() -> str:
    """Return a text, which is kept as the result of the run."""
    return "alive"


# At 02:00 and 14:00 in Rome, also when the clocks change. A failure is retried up to three times.
@app.cron("0 2,14 * * *", timezone="Europe/Rome", retry=3)
def report(region: str = "all") -> None:
    """Write the report of a region; to run it now, type: sempre run report"""
    for step in range(3):
        current().progress(step + 1, 3, f"step {step + 1} for {region}")


# Without a schedule: another program enqueues it by send_mail.enqueue("ann@example.com").
@app.job
def send_mail(address: str) -> None:
    """Send a mail."""
    print(f"mail to {address}")
'''
SECTION = """[tool.sempre]
# Where schedules and executions are kept; $SEMPRE_STORE overrides it.
store = "sqlite:///jobs.db"
# What `sempre dev` and `sempre worker` run.
app = "jobs:app"
"""


@click.command
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@output_options
def init(output: Output, *, folder: Path) -> None:
    """Write a first jobs.py and its settings.

    The settings go under [tool.sempre] in pyproject.toml. A file or section that exists is kept.
    """
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{folder} is not a folder.", code=ExitCode.USAGE, advice="sempre init DIR")
    project = _project_text(folder / "pyproject.toml")
    written, kept = [], []
    for name, text in (("jobs.py", JOBS), ("pyproject.toml", project)):
        path = folder / name
        if text is None or (name == "jobs.py" and path.exists()):
            kept.append(name)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(name)
    if output.as_json:
        output.json({"folder": str(folder), "written": written, "kept": kept})
        return
    _report(output, folder, written, kept)


def _project_text(path: Path) -> str | None:
    """Return pyproject.toml with a section [tool.sempre]; None if it has one already."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        if "sempre" in tomllib.loads(before).get("tool", {}):
            return None
        text = f"{before.rstrip()}\n\n{SECTION}" if before.strip() else SECTION
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{path} cannot be extended: {error}."
        raise Failure(message, code=ExitCode.REFUSED, advice="correct it and repeat") from error
    return text


def _report(output: Output, folder: Path, written: list[str], kept: list[str]) -> None:
    output.lines(f"written {folder / name}" for name in written)
    for name in kept:
        what = "has a section [tool.sempre]" if name == "pyproject.toml" else "exists"
        inform(f"kept {folder / name}, which {what}")
    here = "" if folder == Path() else f"cd {folder} && "
    inform(f"try: {here}sempre dev")
