"""`sempre log`: who changed what, from what, to what, and why."""

import json
from itertools import islice

import click

from sempre.cli.context import CommandContext
from sempre.cli.fields import Field, Fields
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.redaction import redacted, redacted_text

__all__ = ["log"]

KINDS = ("schedule", "execution", "switch", "job", "worker", "queue", "store")
WIDEST = 60


@click.command
@click.argument("target", default="")
@click.option("--verb", help="Only this verb, such as pause or retry.")
@click.option("--actor", help="Only actions of this user.")
@click.option("--since", metavar="T", help="From an instant, or from 1h ago.")
@count_option("-n", "--limit", what="Most actions", default=20, most=10_000)
@context_options
def log(context: CommandContext, *, target: str, limit: int, **filters: str | None) -> None:
    """Show the log of actions, newest first.

    TARGET is the name of a schedule, or schedule:NAME, execution:ID, switch:NAME, job:NAME,
    worker:ID, queue:NAME or store:ID.
    """
    known = target.partition(":")[0] in KINDS and ":" in target
    chosen = target if known else f"schedule:{target}" if target else None
    actions = list(islice(context.app.actions(target=chosen, **filters), limit + 1))
    if context.output.as_json:
        shown = [ACTION.json(each, context.redact) for each in actions[:limit]]
        context.output.json({"actions": shown, "more": len(actions) > limit})
        return
    ACTION.print_table(context, actions[:limit])
    if not actions:
        inform("no action is on record.")
    elif len(actions) > limit:
        inform("more exist: raise -n.")


def _change(action: Action, context: CommandContext) -> str:
    """Return the changed fields in words: `cron: "0 2 * * *" -> "0 3 * * *"`."""
    before, after = _mask(action.before, context), _mask(action.after, context)
    if not isinstance(after, dict):
        return ""
    old = before if isinstance(before, dict) else {}
    parts = [_field(name, old.get(name), value) for name, value in after.items()]
    return ", ".join(parts)


def _field(name: str, before: Json, after: Json) -> str:
    new = _short(after)
    return f"{name}: {new}" if before is None else f"{name}: {_short(before)} -> {new}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _mask(value: Json, context: CommandContext) -> Json:
    return redacted(value, context.redact)


ACTION = Fields[Action](
    Field("id", lambda each: each.id),
    Field("at", lambda each: each.at, column="AT"),
    Field("actor", lambda each: each.actor, column="BY"),
    Field("verb", lambda each: each.verb, column="VERB"),
    Field("target", lambda each: each.target, column="TARGET"),
    Field("note", lambda each: each.note, column="WHY", mask=redacted_text, below=True),
    Field("before", lambda each: each.before, mask=redacted),
    Field("after", lambda each: each.after, mask=redacted),
    Field("", lambda each: each.after, column="CHANGE", text=_change, below=True),
)
