"""`sempre db export` and `db import`: move a store to another database."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import click

from sempre.app.composition import current_user
from sempre.app.presentation.fleet import refuse_alive
from sempre.app.times import json_instant
from sempre.app.transfer.files import Contents, examine, records_of, write_file
from sempre.app.transfer.loading import Import, check_target
from sempre.app.transfer.reading import Export
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode
from sempre.cli.files import written_file
from sempre.cli.options import context_options, output_options, store_options, why_option
from sempre.cli.output import Output, inform
from sempre.cli.progress import progress
from sempre.cli.store_choice import choose_store
from sempre.domain.names import check_note
from sempre.urls import masked, open_store

__all__ = ["export_store", "import_store"]


@click.command("export")
@click.argument("file", type=click.Path(dir_okay=False, writable=True, allow_dash=True))
@context_options
def export_store(context: CommandContext, *, file: str) -> None:
    """Write schedules, executions, actions and switches to a FILE, or to stdout with -.

    `db import` reads the file into a store of any kind. Arguments are not masked in it. Stop the
    workers first: what they write meanwhile may be in the file in part. Exit 1 if rows were left
    out because this release cannot read them.
    """
    store, volume = context.store, context.store.volume()
    reading = store.sessions()
    if any(each.is_leased_beyond(reading.now) for each in reading.value):
        inform("warning: workers are alive; what they write meanwhile may be exported in part.")
    contents, export = Contents(store.uuid, reading.now), Export(store)
    total = volume.schedules + volume.executions
    with written_file(file) as opened, progress("exporting", total) as show:
        write_file(opened, export.records(), contents, show=show)
    if file != "-":
        _report_export(context.output, file, contents, left_out=len(export.unreadable))
    for each in export.unreadable:
        inform(f"left out: {each.table} {each.name}: {each.reason}")
    if export.unreadable:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _report_export(output: Output, file: str, contents: Contents, *, left_out: int) -> None:
    if output.as_json:
        output.json({"file": file, **_summary(contents), "left_out": left_out})
        return
    output.line(f"ok {contents.counts.total():,} records in {file}")
    output.facts((kind, f"{count:,}") for kind, count in contents.counts.items())


def _summary(contents: Contents) -> dict[str, object]:
    return {
        "store": contents.store,
        "exported_at": json_instant(contents.exported_at),
        "lines": contents.counts.total(),
        "counts": dict(contents.counts),
    }


@click.command("import")
@click.argument("file", type=click.Path(dir_okay=False, exists=True, allow_dash=True))
@click.option("--merge", is_flag=True, help="Import into a store that has other schedules.")
@click.option("--rerun-running", is_flag=True, help="Run executions again that ran when exported.")
@why_option
@store_options
@output_options
def import_store(
    output: Output,
    *,
    file: str,
    merge: bool,
    rerun_running: bool,
    why: str,
    store: str | None,
    app: str | None,
) -> None:
    """Load a FILE of `db export`, or stdin with -, into a store, which is set up first.

    Nothing is written unless the whole file can be read. Records that the store has already stay
    as they are, so an interrupted import is simply repeated. Executions that ran when exported
    are failed, unless --rerun-running is given.
    """
    url, note = choose_store(store, None, app).settings.store, check_note("why", why)
    with _opened_for_import(file) as opened:
        contents = examine(opened)
        target = open_store(url)
        try:
            target.upgrade()
            refuse_alive(target)
            check_target(target, contents, merge=merge)
            order = Import(target, contents, rerun_running=rerun_running)
            with progress("importing", contents.counts.total()) as show:
                written = order.load(records_of(opened), show=show)
            order.record(written, actor=current_user(), note=note)
        finally:
            target.close()
    _report_import(output, url, contents, written)


def _report_import(output: Output, url: str, contents: Contents, written: int) -> None:
    total = contents.counts.total()
    if output.as_json:
        known = {"written": written, "known": total - written}
        output.json({"into": masked(url), **_summary(contents), **known})
        return
    output.line(f"ok {masked(url)}: {written:,} of {total:,} records written")
    output.facts((kind, f"{count:,}") for kind, count in contents.counts.items())


@contextmanager
def _opened_for_import(file: str) -> Iterator[IO[str]]:
    """Open a file to read twice: once to examine it, once to load it; stdin is copied first."""
    if file != "-":
        with Path(file).open(encoding="utf-8", errors="replace", newline="\n") as opened:
            yield opened
        return
    with TemporaryFile("w+", encoding="utf-8", errors="replace", newline="\n") as copy:
        for line in sys.stdin:
            copy.write(line)
        yield copy
