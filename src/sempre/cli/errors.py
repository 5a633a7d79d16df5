"""Errors and exit codes of commands: one sentence on stderr, and the command to run next.

0    done; healthy
1    unhealthy, or the awaited execution failed; of `diff`: something differs
2    the command line itself is wrong
3    the store or the broker cannot be reached or used
4    not found
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

__all__ = ["ExitCode", "Failure", "Interrupted", "failure_of", "safe_word"]


class ExitCode(IntEnum):
    """The exit codes; the module's docstring explains each."""

    DONE = 0
    UNHEALTHY = 1
    USAGE = 2
    UNREACHABLE = 3
    NOT_FOUND = 4
    REFUSED = 5
    INTERRUPTED = 130


# The first that fits decides.
CODES: tuple[tuple[type[SempreError], ExitCode], ...] = (
    (InvalidInput, ExitCode.USAGE),
    (NotFound, ExitCode.NOT_FOUND),
    (Refused, ExitCode.REFUSED),
    (Contended, ExitCode.REFUSED),
    (UnknownGrid, ExitCode.REFUSED),
    (BrokenGrid, ExitCode.REFUSED),
    (MissingExtra, ExitCode.UNREACHABLE),
    (UnreadableRow, ExitCode.REFUSED),
    (StoreError, ExitCode.UNREACHABLE),
    (BrokerError, ExitCode.UNREACHABLE),
)
NEXT = {
    "schedule": "sempre list",
    "execution": "sempre executions",
    "worker": "sempre workers",
    "worker on host": "sempre workers",
    "channel": "sempre alerts",
}


# Words without the characters of URLs, accounts and options.
_PLAIN = re.compile(r"(?!.*://)[\w./:,*\\ -]{1,80}")
# A quoted argument that an error repeats and that looks like a URL with an account.
_QUOTED_ACCOUNT = re.compile(r"""(["'])[^"']*(?::[^"']*@|=\[redacted\])[^"']*\1""")
_EXTRA_ARGUMENTS = re.compile(r"(Got unexpected extra arguments? )\((.*)\)", re.DOTALL)


class Failure(click.ClickException):
    """An error that ends a command: a sentence, the command to run next, and an exit code."""

    def __init__(
        self,
        message: str,
        *,
        code: ExitCode = ExitCode.UNHEALTHY,
        advice: str = "",
        details: str = "",
    ) -> None:
        """Take the sentence and the command to run next.

        Details, such as a traceback of the user's code, are printed before the sentence.
        """
        super().__init__(message)
        self.code = int(code)
        self.advice = advice
        self.details = details

    @classmethod
    def of_click(cls, error: click.ClickException) -> click.ClickException:
        """Return an error of click in the wording of Sempre; help stays help."""
        if isinstance(error, (cls, getattr(click.exceptions, "NoArgsIsHelpError", cls))):
            return error
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "sempre"
        text = _EXTRA_ARGUMENTS.sub(_only_plain, error.format_message())
        failure = cls(text[:1].lower() + text[1:], advice=f"{path} --help")
        failure.code = error.exit_code
        return failure

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error on stderr, without secrets and control characters."""
        message = _QUOTED_ACCOUNT.sub('"..."', redacted_text(self.format_message()))
        lines = [*self.details.splitlines(), f"error: {message}"]
        if self.advice:
            lines.append(f"  try: {self.advice}")
        for line in lines:
            click.echo(printable(line, keep="\n"), file=file, err=file is None)


class Interrupted(Failure):
    """The user pressed Ctrl-C."""

    def __init__(self) -> None:
        """Take the exit code 130."""
        super().__init__("interrupted.", code=ExitCode.INTERRUPTED)


def failure_of(error: SempreError) -> Failure:
    """Return the failure for an error: its sentence, exit code and the command to run next."""
    code = next((code for kind, code in CODES if isinstance(error, kind)), ExitCode.UNHEALTHY)
    advice = NEXT.get(error.kind, "") if isinstance(error, NotFound) else ""
    if isinstance(error, NotFound) and error.kind == "next slot of":
        advice = f"sempre show {error.name}"
    if isinstance(error, UnreadableRow):
        advice = "pip install --upgrade sempre tzdata"
    elif isinstance(error, StoreGone):
        advice = "sempre db upgrade"
    elif isinstance(error, StoreError) and not isinstance(error, StoreRefused):
        # The message of a refusal has its own remedy.
        advice = "sempre db status"
    return Failure(str(error), code=code, advice=advice)


def safe_word(text: str) -> str:
    """Return an argument as an error may repeat it; `...` if it may hold a password."""
    return text if _PLAIN.fullmatch(text) else "..."


def _only_plain(match: re.Match[str]) -> str:
    return f"{match[1]}({safe_word(match[2])})"
