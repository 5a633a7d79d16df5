"""`sempre why`: why a slot or an execution is as it is."""

import textwrap
from collections.abc import Callable, Iterator

import click

from sempre.app.presentation.explanations import explanation_json
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options
from sempre.domain.explanation import Cause, Explanation
from sempre.domain.explanation.wording import Speech, line_of, verdict_sentence

__all__ = ["why"]

LEAST_WIDTH = 40
SHORT_ID = 13
"""How much of an id a terminal shows: its milliseconds."""


@click.command
@click.argument("subject", metavar="NAME@TIME|ID")
@context_options
def why(context: CommandContext, *, subject: str) -> None:
    """Explain why a slot or an execution is as it is.

    NAME@TIME is a slot of a schedule, past or future, such as bill@2026-03-29T02:30; without an
    offset TIME is wall time of the schedule's zone. ID is an execution, or the beginning of an id.
    """
    explanation = _explained(context, subject)
    speech = Speech(context.output.zone(explanation.zone), context.now, _shortener(context))
    if context.output.as_json:
        context.output.json({"why": explanation_json(explanation, speech)})
        return
    _print(context, explanation, speech)


def _explained(context: CommandContext, subject: str) -> Explanation:
    name, mark, time = subject.rpartition("@")
    if not mark:
        return context.app.why(context.execution_id(subject))
    if not name or not time:
        raise Failure(
            f'"{subject}" names no slot.',
            code=ExitCode.USAGE,
            advice="sempre why NAME@2026-03-29T02:30",
        )
    return context.app.why(name, at=time)


def _shortener(context: CommandContext) -> Callable[[str], str]:
    """Return how ids are shown: a terminal shows a prefix, which every command accepts."""
    is_short = context.output.width is not None and not context.output.as_json
    return _shortened if is_short else str


def _shortened(identity: str) -> str:
    return identity[:SHORT_ID].rstrip("-")


def _print(context: CommandContext, explanation: Explanation, speech: Speech) -> None:
    output = context.output
    output.lines(_wrapped(verdict_sentence(explanation, speech), output.width, ""))
    for cause in explanation.causes:
        output.lines(_lines(cause, speech, output.width))
    if explanation.execution:
        output.line("")
        output.facts([("execution", explanation.execution)])


def _lines(cause: Cause, speech: Speech, width: int | None) -> Iterator[str]:
    """Yield a cause with its time in front, continued below its beginning."""
    yield from _wrapped(line_of(cause, speech), width, "- ")


def _wrapped(text: str, width: int | None, mark: str) -> list[str]:
    if width is None:
        return [f"{mark}{text}"]
    indent = " " * len(mark)
    room = max(width, LEAST_WIDTH)
    return textwrap.wrap(text, room, initial_indent=mark, subsequent_indent=indent)
