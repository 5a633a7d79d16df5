"""Executions by the beginning of their id: commands accept every prefix of one id alone."""

from typing import TYPE_CHECKING

from sempre.app.times import format_age
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.output import printable
from sempre.errors import NotFound

if TYPE_CHECKING:
    from sempre.cli.context import CommandContext

__all__ = ["resolved_id"]

MOST_CANDIDATES = 10


def resolved_id(context: "CommandContext", text: str) -> str:
    """Return the id of the one execution whose id begins with a text, in any case.

    Raises:
        NotFound: no id begins with the text.
        Failure: several ids begin with it; the error has the candidates, and exit code 2.
    """
    prefix = text.strip().lower()
    found = (
        context.read(context.store.execution_ids(prefix, limit=MOST_CANDIDATES + 1))
        if prefix
        else []
    )
    if not found:
        raise NotFound("execution", text)
    # An id may be the beginning of a longer one.
    if len(found) == 1 or prefix in found:
        return prefix if prefix in found else found[0]
    raise Failure(
        f'the id "{text}" is ambiguous: {_count(found)} executions begin with it.',
        code=ExitCode.USAGE,
        advice="a longer prefix of the id",
        details="\n".join(_described(context, found[:MOST_CANDIDATES])),
    )


def _count(found: list[str]) -> str:
    return f"more than {MOST_CANDIDATES}" if len(found) > MOST_CANDIDATES else str(len(found))


def _described(context: "CommandContext", ids: list[str]) -> list[str]:
    """Return a line for each candidate: its id, name, state and slot."""
    rows = [each.execution for each in context.read(context.store.candidates(ids))]
    rows.sort(key=lambda row: row.id, reverse=True)
    return [
        f"{row.id}  {printable(row.snapshot.name)}  {row.state}  "
        f"{format_age(row.run_at, context.now)}"
        for row in rows
    ]
