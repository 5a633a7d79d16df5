"""How commands fail: one sentence on stderr, the command to run next, and an exit code.

0    done; healthy
1    unhealthy, or the awaited execution failed
2    the command line itself is wrong
3    the store or the broker cannot be reached or used
4    there is nothing of that name
5    refused by the present state, or needs --yes
130  interrupted
"""

import re
from enum import IntEnum
from typing import IO, Any

import click

from sempre.domain.redaction import redacted_text
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
    printable,
)

__all__ = ["Code", "Failure", "Interrupted", "failure_of", "named"]


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


# Words without what URLs, accounts and options are made of.
_PLAIN = re.compile(r"(?!.*://)[\w./:,*\\ -]{1,80}")
# A word of the command line that somebody meant as a URL, repeated by an error.
_QUOTED_ACCOUNT = re.compile(r"""(["'])[^"']*(?::[^"']*@|=\[redacted\])[^"']*\1""")
_EXTRA_ARGUMENTS = re.compile(r"(Got unexpected extra arguments? )\((.*)\)", re.DOTALL)


class Failure(click.ClickException):
    """The end of a command: a sentence, what to try next, and an exit code."""

    def __init__(
        self, message: str, *, code: Code = Code.UNHEALTHY, advice: str = "", details: str = ""
    ) -> None:
        """Say what went wrong and, if there is one, which command to run next.

        Lines of details, such as a traceback of the user's code, come before the sentence.
        """
        super().__init__(message)
        self.code = int(code)
        self.advice = advice
        self.details = details

    @classmethod
    def of_click(cls, error: click.ClickException) -> click.ClickException:
        """Return an error of click's in the same words as all others; help stays help."""
        if isinstance(error, (cls, getattr(click.exceptions, "NoArgsIsHelpError", cls))):
            return error
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "sempre"
        text = _EXTRA_ARGUMENTS.sub(_only_plain, error.format_message())
        failure = cls(text[:1].lower() + text[1:], advice=f"{path} --help")
        failure.code = error.exit_code
        return failure

    def show(self, file: IO[Any] | None = None) -> None:
        """Write it to stderr: without secrets, and with nothing that steers a terminal."""
        message = _QUOTED_ACCOUNT.sub('"..."', redacted_text(self.format_message()))
        lines = [*self.details.splitlines(), f"error: {message}"]
        if self.advice:
            lines.append(f"  try: {self.advice}")
        for line in lines:
            click.echo(printable(line, keep="\n"), file=file, err=file is None)


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


def named(text: str) -> str:
    """Return a word of the command line as an error repeats it; ... if it may hold a password."""
    return text if _PLAIN.fullmatch(text) else "..."


def _only_plain(match: re.Match[str]) -> str:
    return f"{match[1]}({named(match[2])})"
