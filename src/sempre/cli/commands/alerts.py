"""`sempre alerts`: channels and rules, open incidents, the last messages, and test messages."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass

import click

from sempre.alerts.channel import Channel, DeliveryFailed
from sempre.app.alerts.book import AlertBook
from sempre.app.alerts.overview import Overview, SentMessage, read_overview
from sempre.app.presentation.fields import Field, Fields
from sempre.app.times import format_duration, json_instant
from sempre.cli.app_loader import LoadedApp, load_app
from sempre.cli.context import CommandContext, open_context
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.group import ListingGroup
from sempre.cli.options import count_option, output_options
from sempre.cli.output import Output, inform
from sempre.cli.store_choice import Choice
from sempre.cli.tables import print_table
from sempre.clock import SystemClock
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.incidents import Incident
from sempre.domain.alerts.rules import Rule
from sempre.domain.states import State
from sempre.engine.ids import new_id
from sempre.errors import MissingExtra, NotFound, nearest
from sempre.errors.wording import counted

__all__ = ["Answer", "DeclaredRule", "alerts", "list_alerts", "test"]

LIGHTS = {State.SUCCEEDED: "*", State.FAILED: "x", State.SKIPPED: "-", State.CANCELLED: "-"}


@dataclass(frozen=True)
class DeclaredRule:
    """A rule, with its channel."""

    rule: Rule
    channel: Channel


@dataclass(frozen=True)
class Answer:
    """The result of a test message."""

    channel: Channel
    is_accepted: bool
    text: str


@click.group("alerts", cls=ListingGroup)
def alerts() -> None:
    """List alerts, or send a test message."""


@alerts.command("list")
@click.option("-A", "--app", metavar="APP", help="Application; found as by `sempre worker`.")
@count_option("-n", "--limit", what="Messages to show", default=10, least=0, most=100)
@output_options
def list_alerts(output: Output, *, app: str | None, limit: int) -> None:
    """List rules, open incidents and the last messages.

    The code of the application is imported: channels are declared there, and their secrets are
    never stored. The first column of a message is its state: * delivered, ~ waiting or being tried
    again, x failed for good, - not needed.
    """
    loaded = _loaded(app)
    book = loaded.app.alerts
    with open_context(Choice(loaded.app.settings, loaded.name), output) as context:
        overview = read_overview(context.app.engine, book.channels, limit=limit)
        if output.as_json:
            output.json(_answer(book, overview))
        else:
            _print(context, book, overview)


@alerts.command
@click.argument("channels", metavar="[CHANNEL]...", nargs=-1)
@click.option("-A", "--app", metavar="APP", help="Application; found as by `sempre worker`.")
@output_options
def test(output: Output, *, channels: Sequence[str], app: str | None) -> None:
    """Send a test message now; exit 1 if a channel fails.

    The message goes from this process to the channels of these names, by default to all. Quiet
    hours and switches do not hold it back, and it is not tried again.
    """
    known = _loaded(app).app.alerts.channels
    for name in channels:
        if name not in known:
            raise NotFound("channel", name, hint=nearest(name, sorted(known)))
    answers = [_tried(known[name]) for name in dict.fromkeys(channels or known)]
    if output.as_json:
        output.json({"channels": [ANSWER.json(each) for each in answers]})
    else:
        for each in answers:
            output.line(
                f"{'ok' if each.is_accepted else 'failed'} {each.channel.name}: {each.text}"
            )
    if not all(each.is_accepted for each in answers):
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _loaded(app: str | None) -> LoadedApp:
    """Return the application of the command; Failure if it declares no alert."""
    # Output of the user's code at import is not data of the command.
    with redirect_stdout(sys.stderr):
        loaded = load_app(app)
    if not loaded.app.alerts.channels:
        message = f"the application {loaded.name} declares no alert."
        advice = 'app.alert(Webhook("https://...")) in its code; see docs/how-to/alerts.md'
        raise Failure(message, code=ExitCode.NOT_FOUND, advice=advice)
    return loaded


def _tried(channel: Channel) -> Answer:
    identity = new_id(SystemClock().now())
    alert = Alert(id=f"test:{identity}", phase=Phase.TEST, name="test", execution=identity)
    try:
        return Answer(channel, is_accepted=True, text=channel.send(alert, delivery=identity))
    except (DeliveryFailed, MissingExtra) as error:
        return Answer(channel, is_accepted=False, text=str(error))


def _rules(book: AlertBook) -> list[DeclaredRule]:
    rules = [*book.rules, *book.run_rules, *book.heartbeats.values()]
    unique = {id(rule): rule for rule in rules}
    return [DeclaredRule(rule, book.channels[rule.channel]) for rule in unique.values()]


def _answer(book: AlertBook, overview: Overview) -> dict[str, object]:
    return {
        "scanned_at": json_instant(overview.scan.scanned_at),
        "rules": [RULE.json(each) for each in _rules(book)],
        "incidents": [INCIDENT.json(each) for each in overview.scan.open],
        "messages": [MESSAGE.json(each) for each in overview.messages],
    }


def _print(context: CommandContext, book: AlertBook, overview: Overview) -> None:
    print_table(context, RULE, _rules(book))
    scanned = overview.scan.scanned_at
    if incidents := overview.scan.open:
        context.output.line("")
        print_table(context, INCIDENT, incidents)
    if overview.messages:
        context.output.line("")
        print_table(context, MESSAGE, overview.messages)
    age = f"{format_duration(context.now - scanned)} ago" if scanned else "never"
    inform(f"{counted(len(incidents), 'open incident')}; last scan {age}.")


def _scope(each: DeclaredRule) -> str:
    rule = each.rule
    parts = [*rule.schedules, *(f"job {name}" for name in rule.jobs)]
    parts += [f"tag {name}" for name in sorted(rule.tags)]
    return ", ".join(parts) or "everything"


def _events(each: DeclaredRule) -> str:
    if each.channel.every is not None:
        return f"every {format_duration(each.channel.every)}"
    words = sorted(each.rule.on) if each.channel.hears_incidents else []
    return ", ".join([*words, *(["runs"] if each.channel.hears_runs else [])])


def _sent_to(incident: Incident) -> str:
    return ", ".join(name for name, each in incident.sent.items() if each.count) or "no channel yet"


def _listed(values: Iterable[str]) -> list[str]:
    return sorted(values)


RULE = Fields[DeclaredRule](
    Field("channel", lambda each: each.channel.name, column="CHANNEL"),
    Field("kind", lambda each: each.channel.kind),
    Field("place", lambda each: each.channel.place, column="TO", flexible=20),
    Field("on", lambda each: _listed(each.rule.on)),
    Field("runs", lambda each: each.channel.hears_runs),
    Field("", _events, column="ON"),
    Field("schedules", lambda each: list(each.rule.schedules)),
    Field("jobs", lambda each: list(each.rule.jobs)),
    Field("tags", lambda each: _listed(each.rule.tags)),
    Field("", _scope, column="FOR", flexible=10),
    Field("remind_s", lambda each: each.rule.remind, column="REMIND"),
    Field("overdue_after_s", lambda each: each.rule.overdue_after),
    Field("every_s", lambda each: each.channel.every),
    Field("quiet", lambda each: str(each.rule.quiet or "") or None, column="QUIET", below=True),
)
INCIDENT = Fields[Incident](
    Field("", lambda each: "x" if each.is_seen else "~", column=""),
    Field("id", lambda each: each.id),
    Field("trouble", lambda each: each.trouble),
    Field("subject", lambda each: each.subject),
    Field("", lambda each: f"{each.name} {each.trouble}", column="INCIDENT", flexible=20),
    Field("since", lambda each: each.since, column="SINCE"),
    Field("count", lambda each: each.count, column="COUNT"),
    Field("seen", lambda each: each.is_seen),
    Field("sent", lambda each: {name: sent.count for name, sent in each.sent.items()}),
    Field("", _sent_to, column="SENT TO"),
    Field("execution", lambda each: each.execution),
    Field("error", lambda each: each.error, column="ERROR", below=True),
)
MESSAGE = Fields[SentMessage](
    Field("", lambda each: LIGHTS.get(each.execution.state, "~"), column=""),
    Field("id", lambda each: each.execution.id, column="ID", is_id=True),
    Field("channel", lambda each: each.channel, column="CHANNEL"),
    Field("phase", lambda each: str(each.alert.phase) if each.alert else None),
    Field("title", lambda each: each.title, column="MESSAGE", flexible=20),
    Field("state", lambda each: each.execution.state, column="STATE", optional=True),
    Field("at", lambda each: each.at, column="AT"),
    Field("attempts", lambda each: each.execution.attempt, column="TRIES", optional=True),
    Field("error", lambda each: each.error, column="ERROR", below=True),
)
ANSWER = Fields[Answer](
    Field("channel", lambda each: each.channel.name),
    Field("accepted", lambda each: each.is_accepted),
    Field("answer", lambda each: each.text),
)
