"""How commands fail: one sentence on stderr, the command to run next, and an exit code.

0    done; healthy
1    unhealthy, or the awaited execution failed
2    the command line itself is wrong
3    the store or the broker cannot be reached or used
4    there is nothing of that name
5    refused by the present state, or needs --yes
130  interrupted
"""

from enum import IntEnum
from typing import IO, Any

import click

from sempre.errors import (
    BrokenGrid,
    BrokerError,
    Contended,
    InvalidInput,
    MissingExtra,
    NotFound,
    Refused,
    SempreError,
    StoreError,
    StoreGone,
    StoreRefused,
    UnknownGrid,
    UnreadableRow,
)

__all__ = ["Code", "Failure", "Interrupted", "failure_of"]


class Code(IntEnum):
    """The exit codes; the module's docstring explains each."""

    DONE = 0
    UNHEALTHY = 1
    USAGE = 2
    UNREACHABLE = 3
    NOT_FOUND = 4
    REFUSED = 5
    INTERRUPTED = 130


# The first that fits decides.
CODES: tuple[tuple[type[SempreError], Code], ...] = (
    (InvalidInput, Code.USAGE),
    (NotFound, Code.NOT_FOUND),
    (Refused, Code.REFUSED),
    (Contended, Code.REFUSED),
    (UnknownGrid, Code.REFUSED),
    (BrokenGrid, Code.REFUSED),
    (MissingExtra, Code.UNREACHABLE),
    (UnreadableRow, Code.REFUSED),
    (StoreError, Code.UNREACHABLE),
    (BrokerError, Code.UNREACHABLE),
)
NEXT = {
    "schedule": "sempre list",
    "execution": "sempre executions",
}


class Failure(click.ClickException):
    """The end of a command: a sentence, what to try next, and an exit code."""

    def __init__(self, message: str, *, code: Code = Code.UNHEALTHY, advice: str = "") -> None:
        """Say what went wrong and, if there is one, which command to run next."""
        super().__init__(message)
        self.code = int(code)
        self.advice = advice

    @classmethod
    def of_click(cls, error: click.ClickException) -> click.ClickException:
        """Return an error of click's in the same words as all others; help stays help."""
        if isinstance(error, (cls, getattr(click.exceptions, "NoArgsIsHelpError", cls))):
            return error
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "sempre"
        text = error.format_message()
        failure = cls(text[:1].lower() + text[1:], advice=f"{path} --help")
        failure.code = error.exit_code
        return failure

    def show(self, file: IO[Any] | None = None) -> None:
        """Write it to stderr."""
        click.echo(f"error: {self.format_message()}", file=file, err=file is None)
        if self.advice:
            click.echo(f"  try: {self.advice}", file=file, err=file is None)


class Interrupted(Failure):
    """Somebody pressed Ctrl-C."""

    def __init__(self) -> None:
        """Say so, and no more."""
        super().__init__("interrupted.", code=Code.INTERRUPTED)


def failure_of(error: SempreError) -> Failure:
    """Return what a person is told about an error, and the exit code that a script sees."""
    code = next((code for kind, code in CODES if isinstance(error, kind)), Code.UNHEALTHY)
    advice = NEXT.get(error.kind, "") if isinstance(error, NotFound) else ""
    if isinstance(error, NotFound) and error.kind == "next slot of":
        advice = f"sempre show {error.name}"
    if isinstance(error, UnreadableRow):
        advice = "pip install --upgrade sempre tzdata"
    elif isinstance(error, StoreGone):
        advice = "sempre db upgrade"
    elif isinstance(error, StoreError) and not isinstance(error, StoreRefused):
        # What refuses says itself what to do about it.
        advice = "sempre db status"
    return Failure(str(error), code=code, advice=advice)
