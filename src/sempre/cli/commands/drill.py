"""`sempre drill`: a game day on staging: break it, and count that no slot was lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from socket import gethostname
from threading import Event
from typing import Any, NamedTuple

import click

from sempre.app.presentation.fields import Field, Fields
from sempre.app.times import format_duration, json_instant
from sempre.cli.context import CommandContext
from sempre.cli.drill.baseline import Baseline
from sempre.cli.drill.kill import kill as kill_process
from sempre.cli.drill.kill import why_spared
from sempre.cli.drill.verdict import Verdict
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.errors import InvalidInput
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Session
from sempre.urls import masked

__all__ = ["drill"]

# A supervisor gives up at the fifth crash within a minute.
MOST_KILLED = 4
LONGEST = timedelta(days=1)
REST = 0.5
MOST_SLOTS = 5
FLAG = "--yes-this-is-not-production"


class _Target(NamedTuple):
    """A worker, and why the drill spares it; empty if the drill may kill it."""

    session: Session
    spared: str


@dataclass(frozen=True)
class _Damage:
    """The damage: messages flushed, None without a broker; processes killed and spared."""

    flushed: int | None
    killed: list[int]
    spared: list[_Target]


def _not_run(verdict: Verdict) -> str:
    counts = (f"{count} {reason}" for reason, count in verdict.not_run.items())
    return verdict.unjudged or ", ".join(counts) or "0"


def _recovered(verdict: Verdict) -> str:
    if verdict.recovered is None:
        return "not yet"
    return format_duration(verdict.recovered) if verdict.recovered else "at once"


def _column(heading: str, text: Callable[[Verdict], object]) -> Field[Verdict]:
    """Return a column that is empty for a schedule without a verdict."""
    return Field("", lambda each: "" if each.unjudged else str(text(each)), column=heading)


VERDICT = Fields[Verdict](
    Field("", lambda each: "-" if each.unjudged else "*" if each.is_well else "x", column=""),
    Field("name", lambda each: each.name, column="NAME"),
    Field("due", lambda each: each.due),
    _column("DUE", lambda each: each.due),
    Field("ran", lambda each: each.ran),
    _column("RAN", lambda each: each.ran),
    Field("not_run", lambda each: dict(each.not_run)),
    Field("", _not_run, column="NOT RUN"),
    Field("waiting", lambda each: each.waiting),
    _column("WAITING", lambda each: each.waiting),
    Field("behind", lambda each: each.behind),
    Field("lost", lambda each: [json_instant(slot) for slot in each.lost]),
    _column("LOST", lambda each: len(each.lost)),
    Field("again", lambda each: each.again),
    _column("RESTARTS", lambda each: each.again),
    Field("latest", lambda each: each.latest),
    _column("LATEST", lambda each: format_duration(each.latest)),
    Field("recovered", lambda each: each.recovered),
    _column("RECOVERED", _recovered),
    Field("unjudged", lambda each: each.unjudged),
)


@click.command
@click.option(
    "--flush/--no-flush", default=True, help="Delete this store's messages in the broker (default)."
)
@count_option(
    "--kill",
    "kills",
    what=f"Worker processes of this host to kill, at most {MOST_KILLED}",
    default=1,
    least=0,
    most=MOST_KILLED,
)
@click.option(
    "--for", "lasts", metavar="D", default="60s", help="How long to observe; default 60s."
)
@click.option(FLAG, "confirmed", is_flag=True, help="Required: running jobs are killed.")
@context_options
def drill(context: CommandContext, *, flush: bool, kills: int, lasts: str, confirmed: bool) -> None:
    """Break staging on purpose and check the recovery.

    Deletes the messages of this store in the broker and kills workers of this host by SIGKILL. Then
    checks every slot that comes: exit 1 if one was lost, or if the workers do not catch up.
    """
    duration = read_duration("for", lasts)
    if not timedelta(0) < duration <= LONGEST:
        raise InvalidInput("for", lasts, allowed="more than 0s, up to 1d")
    baseline = Baseline(context)
    targets = _targets(baseline)
    if not confirmed:
        _explain(context, baseline, targets, flush=flush, kills=kills)
        message = f"nothing was done: a drill requires {FLAG}."
        raise Failure(message, code=ExitCode.REFUSED, advice=f"sempre drill {FLAG}")
    damage = _damage(context, baseline, targets, flush=flush, kills=kills)
    inform(f"observing for {format_duration(duration)} ...")
    verdicts = _wait(context, baseline, baseline.began + duration)
    _report(context, baseline, damage, verdicts)
    if not all(verdict.is_well for verdict in verdicts):
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _targets(baseline: Baseline) -> list[_Target]:
    """Return the workers: those to kill first, the busiest of them in front."""
    found = [_Target(each, _why_spared(each)) for each in baseline.sessions]
    return sorted(found, key=lambda each: (each.spared, -baseline.runs_of(each.session)))


def _why_spared(session: Session) -> str:
    if session.host != gethostname():
        return "the process is on another host"
    return why_spared(session.pid)


def _explain(
    context: CommandContext,
    baseline: Baseline,
    targets: Sequence[_Target],
    *,
    flush: bool,
    kills: int,
) -> None:
    """Print the steps that the drill would take."""
    inform(f"on {masked(context.app.settings.store)}, with {len(baseline.schedules)} schedules:")
    if flush and context.app.engine.bell.carries:
        inform(f"  would delete all messages of the broker in {', '.join(baseline.lanes)}")
    elif flush:
        inform(f"  {NOTHING_TO_FLUSH}")
    able = [each.session.pid for each in targets if not each.spared][:kills]
    for pid in able:
        inform(f"  would kill worker {pid} and the jobs that it runs")
    if len(able) < kills:
        _report_spared(targets)


NOTHING_TO_FLUSH = "nothing to flush: the store is the broker (--broker names another one)"


def _report_spared(targets: Sequence[_Target]) -> None:
    for session, spared in targets:
        if spared:
            inform(f"  worker {session.pid} on {session.host} is spared: {spared}")
    if not any(not each.spared for each in targets):
        inform("  no worker to kill on this host")


def _damage(
    context: CommandContext,
    baseline: Baseline,
    targets: Sequence[_Target],
    *,
    flush: bool,
    kills: int,
) -> _Damage:
    """Flush the broker, then kill workers: an unreachable broker ends the drill before damage."""
    bell, flushed = context.app.engine.bell, None
    if flush and bell.carries:
        flushed = bell.broker.empty(baseline.lanes)
        inform(f"flushed {flushed} messages in {len(baseline.lanes)} queues")
    elif flush:
        inform(NOTHING_TO_FLUSH)
    killed: list[int] = []
    for session, spared in targets:
        if not spared and len(killed) < kills and not kill_process(session.pid):
            killed.append(session.pid)
            inform(f"killed worker {session.pid}")
    if len(killed) < kills:
        _report_spared(targets)
    return _Damage(flushed, killed, [each for each in targets if each.spared])


def _wait(context: CommandContext, baseline: Baseline, until: datetime) -> list[Verdict]:
    """Wait for the slots up to an instant, then until all are decided or overdue."""
    settings, never = context.app.settings, Event()
    patience = settings.lease + 2 * settings.sweep + settings.grace
    # Waiting for an event, which is never set, ends at Ctrl-C.
    never.wait(max(0.0, (until - context.now).total_seconds()))
    while True:
        never.wait(REST)
        verdicts = baseline.verdicts(until)
        if not any(verdict.behind for verdict in verdicts) or context.now > until + patience:
            return verdicts


def _report(
    context: CommandContext, baseline: Baseline, damage: _Damage, verdicts: Sequence[Verdict]
) -> None:
    if context.output.as_json:
        context.output.json(_answer(baseline, damage, verdicts))
        return
    print_table(context, VERDICT, verdicts)
    for verdict in verdicts:
        slots = [context.shown(slot) for slot in verdict.lost[:MOST_SLOTS]]
        if slots:
            inform(f"lost slots of {verdict.name}: {', '.join(slots)}")
    for session in baseline.replaced()[: len(damage.killed)]:
        if session.started_at is not None:
            after = format_duration(session.started_at - baseline.began)
            inform(f"worker {session.pid} replaced a killed worker after {after}")
    context.output.line(_total(verdicts))


def _total(verdicts: Sequence[Verdict]) -> str:
    lost = sum(len(each.lost) for each in verdicts)
    due, ran, again = (
        sum(getattr(each, name) for each in verdicts) for name in ("due", "ran", "again")
    )
    latest = format_duration(max((each.latest for each in verdicts), default=timedelta(0)))
    counts = f"{due} due, {ran} ran, {again} restarted, at most {latest} late"
    if lost:
        return f"error {lost} slots lost: {counts}"
    behind = sum(each.waiting for each in verdicts if each.behind)
    if behind:
        return f"error {behind} slots wait for a worker: {counts}"
    recovered = max((each.recovered or timedelta(0) for each in verdicts), default=timedelta(0))
    if not due:
        return "ok no slot was due; observe longer with --for"
    return f"ok no slot was lost: {counts}; recovered after {format_duration(recovered)}"


def _answer(baseline: Baseline, damage: _Damage, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    recovered = [each.recovered for each in verdicts]
    known = [each.total_seconds() for each in recovered if each is not None]
    return {
        "began_at": json_instant(baseline.began),
        "flushed": damage.flushed,
        "killed": damage.killed,
        "spared": [
            {"pid": each.pid, "host": each.host, "reason": reason} for each, reason in damage.spared
        ],
        "well": all(each.is_well for each in verdicts),
        "lost": sum(len(each.lost) for each in verdicts),
        "again": sum(each.again for each in verdicts),
        "recovered": max(known, default=0.0) if None not in recovered else None,
        "schedules": [VERDICT.json(each) for each in verdicts],
    }
