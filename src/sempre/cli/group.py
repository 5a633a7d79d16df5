"""A group of commands that imports only the command to run.

`--help` prints a table and so imports no command; a test compares the table with the help texts of
the commands.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from sempre.cli.errors import ExitCode, Failure, Interrupted, failure_of, safe_word
from sempre.errors import SempreError, nearest, printable

__all__ = ["Entry", "LazyGroup", "ListingGroup"]


class Entry(NamedTuple):
    """A command in the table of commands: its module and attribute, and its line in `--help`."""

    name: str
    target: str
    line: str = ""


class LazyGroup(click.Group):
    """Commands in sections, imported on use; an error becomes a sentence and an exit code."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - handed on to click
        sections: Mapping[str, Sequence[Entry]],
        hidden: Sequence[Entry] = (),
        **options: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Take the commands of every section in their order, and the commands that help hides."""
        super().__init__(*args, **options)
        self.sections = sections
        self.entries = {entry.name: entry for some in sections.values() for entry in some}
        self._runnable = {**self.entries, **{entry.name: entry for entry in hidden}}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which they are shown."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a command by its name; None without such a command."""
        entry = self._runnable.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands from the table, so that none is imported for it."""
        names = [
            CompletionItem(entry.name, help=entry.line)
            for entry in self.entries.values()
            if entry.name.startswith(incomplete)
        ]
        return names or super().shell_complete(ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest name."""
        if args and args[0] not in self._runnable and not args[0].startswith("-"):
            hint = nearest(args[0], self.entries)
            ctx.fail(f'no command "{safe_word(args[0])}". {hint}'.strip())
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the commands by section, from the table."""
        width = max(len(name) for name in self.entries)
        for title, entries in self.sections.items():
            with formatter.section(title):
                rows = [(entry.name.ljust(width), entry.line) for entry in entries]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error of Sempre becomes a failure with its exit code."""
        try:
            return super().invoke(ctx)
        except SempreError as error:
            raise failure_of(error) from error

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - handed on to click
        """Run as a program and exit; errors of click read like errors of Sempre."""
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


class ListingGroup(click.Group):
    """Commands about one kind of thing; without a command, `list` runs, or another usual one."""

    def __init__(self, *args: Any, usual: str = "list", **options: Any) -> None:  # noqa: ANN401 - handed on to click
        """Take the command that runs where no command is named."""
        super().__init__(*args, **options)
        self._usual = usual

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the usual command where no command is named."""
        is_option = bool(args) and args[0].startswith("-") and args[0] not in ctx.help_option_names
        # A shell that completes a line parses it before its command is typed.
        if not ctx.resilient_parsing and (not args or is_option):
            args = [self._usual, *args]
        return super().parse_args(ctx, args)


def _refuse_other_bytes(words: Sequence[str]) -> None:
    """Raise Failure for an argument that is not UTF-8: no store can hold it."""
    for place, word in enumerate(words, 1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            message = f'argument {place} is not UTF-8: "{safe_word(printable(word))}".'
            advice = "set your terminal to UTF-8"
            raise Failure(message, code=ExitCode.USAGE, advice=advice) from None
