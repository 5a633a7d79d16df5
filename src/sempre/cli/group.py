"""A group of commands that imports only the command that is asked for.

What `--help` shows stands in a table, so that it costs no import; a test holds the table to what
the commands say of themselves.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from sempre.cli.failing import Code, Failure, Interrupted, failure_of, named
from sempre.errors import SempreError, nearest, printable

__all__ = ["Entry", "LazyGroup"]


class Entry(NamedTuple):
    """A command as the table of commands has it: where it is, and its line in `--help`."""

    name: str
    target: str
    line: str


class LazyGroup(click.Group):
    """Commands in sections, imported one by one; every error becomes a sentence and a code."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[Entry]], **options: Any) -> None:  # noqa: ANN401 - handed on to click
        """Know the commands of every section, in the order in which they are shown."""
        super().__init__(*args, **options)
        self.sections = sections
        self.entries = {entry.name: entry for some in sections.values() for entry in some}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which they are shown."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import the command of a name; None if there is none."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in self.entries and not args[0].startswith("-"):
            hint = nearest(args[0], self.entries)
            ctx.fail(f'no command "{named(args[0])}". {hint}'.strip())
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the commands by section, from the table."""
        width = max(len(name) for name in self.entries)
        for title, entries in self.sections.items():
            with formatter.section(title):
                rows = [(entry.name.ljust(width), entry.line) for entry in entries]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; what goes wrong becomes an error with an exit code of its own."""
        try:
            return super().invoke(ctx)
        except SempreError as error:
            raise failure_of(error) from error

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - handed on to click
        """Run as a program, and end it; an error of click's own reads as any other of ours."""
        try:
            given = args[0] if args else options.get("args")
            _refuse_other_bytes(sys.argv[1:] if given is None else given)
            code = super().main(*args, **{**options, "standalone_mode": False})
        except click.ClickException as error:
            failure = Failure.of_click(error)
        except click.Abort:
            failure = Interrupted()
        else:
            raise SystemExit(code if isinstance(code, int) else 0)
        failure.show()
        raise SystemExit(getattr(failure, "code", failure.exit_code))


def _refuse_other_bytes(words: Sequence[str]) -> None:
    """Raise Failure for a word of the command line that is no UTF-8: nothing could store it."""
    for place, word in enumerate(words, 1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            message = f'argument {place} is not UTF-8: "{named(printable(word))}".'
            advice = "set your terminal to UTF-8"
            raise Failure(message, code=Code.USAGE, advice=advice) from None
