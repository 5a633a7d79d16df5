"""`sempre diff`: code or a file against the store, field by field."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from sempre.app.changes.differences import (
    FieldDifference,
    ScheduleDifference,
    differences,
    differences_of_plan,
)
from sempre.cli.context import CommandContext
from sempre.cli.declared_changes import read_source
from sempre.cli.errors import ExitCode
from sempre.cli.options import code_options
from sempre.cli.planned_changes import field_text
from sempre.domain.arguments import Json
from sempre.domain.redaction import redacted
from sempre.errors.wording import counted

__all__ = ["diff"]

WHOSE = {
    "code": "",
    "plan": "",
    "operator": "; an operator's edit, which a deploy keeps",
    "both": "; an operator edited it and the code has changed: a deploy overwrites the edit",
}


@click.command
@click.argument("file", required=False)
@code_options
def diff(context: CommandContext, *, file: str | None, app: str | None) -> None:
    """Compare code or a file with the store.

    FILE is a plan or a definition file; without it the code of -A is compared. Each field is
    shown as it is in the store, then as it is declared. Exit 0 if everything is equal, 1 if
    anything differs.
    """
    source = read_source(context, file, app)
    engine = context.app.engine
    if source.plan is not None:
        found = list(differences_of_plan(engine, source.plan, actor=context.app.actor))
    else:
        found = list(differences(engine, source.schedules, owner=source.settings.owner))
    if context.output.as_json:
        shown = [_json(each, context.redact) for each in found]
        context.output.json({"equal": not found, "schedules": shown})
    else:
        _print(context, found)
    if found:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _print(context: CommandContext, found: Sequence[ScheduleDifference]) -> None:
    for each in found:
        word = "missing in the store" if each.kind == "missing" else each.kind
        context.output.line(f"{each.name}: {word}")
        for one in each.fields:
            masked = _masked(one, (*context.redact, *each.redact))
            parts = field_text(one.name, masked["stored"], masked["wanted"])
            context.output.facts((name, f"{text}{WHOSE[one.by]}") for name, text in parts)
    if not found:
        context.output.line("equal: the store is as declared.")
    else:
        verb = "differs" if len(found) == 1 else "differ"
        context.output.line(f"{counted(len(found), 'schedule')} {verb} from the store.")


def _masked(field: FieldDifference, redact: Sequence[str]) -> dict[str, Json]:
    """Return the values of a field, without secrets."""
    values = asdict(field)
    masked = {}
    for name in ("wanted", "stored", "declared"):
        shown = redacted({field.name: values[name]}, redact)
        masked[name] = shown[field.name] if isinstance(shown, dict) else None
    return masked


def _json(found: ScheduleDifference, redact: Sequence[str]) -> dict[str, Any]:
    names = (*redact, *found.redact)
    fields = [{"name": each.name, **_masked(each, names), "by": each.by} for each in found.fields]
    return {"name": found.name, "kind": found.kind, "fields": fields}
