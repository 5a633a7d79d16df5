"""`sempre drill`: a game day on staging. Harm is done, and it is counted that nothing was lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from socket import gethostname
from threading import Event
from typing import Any, NamedTuple

import click

from sempre.cli.desk import Desk
from sempre.cli.failing import Code, Failure
from sempre.cli.harming import kill as kill_process
from sempre.cli.harming import why_spared
from sempre.cli.judging import Account
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.times import as_json, length
from sempre.cli.watching import Watch
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
COLUMNS = ("", "NAME", "DUE", "RAN", "NOT RUN", "WAITING", "LOST", "AGAIN", "LATEST", "RECOVERED")
FLAG = "--yes-this-is-not-production"


class _Victim(NamedTuple):
    """A worker that may be killed, or why it is left alone."""

    session: Session
    spared: str


@dataclass(frozen=True)
class _Harm:
    """What was done: messages thrown away, None if nothing carries any; and processes."""

    flushed: int | None
    killed: list[int]
    spared: list[_Victim]


@click.command
@click.option("--flush/--no-flush", default=True, help="Empty the broker's queues (the default).")
@click.option(
    "--kill",
    "kills",
    type=click.IntRange(0, MOST_KILLED),
    default=1,
    help=f"Kill so many workers of this host, at most {MOST_KILLED}; by default 1.",
)
@click.option("--for", "lasts", metavar="D", default="60s", help="How long to watch; 60s.")
@click.option(FLAG, "confirmed", is_flag=True, help="Needed: jobs are really killed.")
@operating
def drill(desk: Desk, *, flush: bool, kills: int, lasts: str, confirmed: bool) -> None:
    """Harm staging on purpose, and see that nothing is lost.

    Queues of this store are emptied, workers of this host killed without a warning. Then every
    slot that comes is followed: exit 1 if one was lost, or if the workers do not catch up.
    """
    duration = read_duration("for", lasts)
    if not timedelta(0) < duration <= LONGEST:
        raise InvalidInput("for", lasts, allowed="more than nothing, and a day at most")
    watch = Watch(desk)
    victims = _victims(watch)
    if not confirmed:
        _explain(desk, watch, victims, flush=flush, kills=kills)
        message = f"nothing was done: a drill needs {FLAG}."
        raise Failure(message, code=Code.REFUSED, advice=f"sempre drill {FLAG}")
    harm = _harm(desk, watch, victims, flush=flush, kills=kills)
    talk(f"watching for {length(duration)} ...")
    accounts = _wait(desk, watch, watch.began + duration)
    _tell(desk, watch, harm, accounts)
    if not all(account.is_well for account in accounts):
        raise click.exceptions.Exit(Code.UNHEALTHY)


def _victims(watch: Watch) -> list[_Victim]:
    """Return the workers by whether they may be killed, then by how much they have to do."""
    found = [_Victim(each, _why_spared(each)) for each in watch.sessions]
    return sorted(found, key=lambda each: (each.spared, -watch.runs_of(each.session)))


def _why_spared(session: Session) -> str:
    if session.host != gethostname():
        return f"it runs on {session.host}"
    return why_spared(session.pid)


def _explain(
    desk: Desk, watch: Watch, victims: Sequence[_Victim], *, flush: bool, kills: int
) -> None:
    """Say what would be done."""
    talk(f"on {masked(desk.app.settings.store)}, with {len(watch.schedules)} schedules:")
    if flush and desk.app.engine.bell.carries:
        talk(f"  the broker would lose all messages in {', '.join(watch.lanes)}")
    elif flush:
        talk(f"  {NOTHING_TO_FLUSH}")
    able = [each.session.pid for each in victims if not each.spared][:kills]
    for pid in able:
        talk(f"  worker {pid} would be killed, with what it runs")
    if len(able) < kills:
        _tell_spared(victims)


NOTHING_TO_FLUSH = "nothing to flush: the store is the broker here (--broker names another one)"


def _tell_spared(victims: Sequence[_Victim]) -> None:
    for session, spared in victims:
        if spared:
            talk(f"  worker {session.pid} of {session.host} is left alone: {spared}")
    if not any(not each.spared for each in victims):
        talk("  there is no worker to kill here")


def _harm(
    desk: Desk, watch: Watch, victims: Sequence[_Victim], *, flush: bool, kills: int
) -> _Harm:
    """Empty the broker first: if it cannot be reached, nothing has been done yet."""
    bell, flushed = desk.app.engine.bell, None
    if flush and bell.carries:
        flushed = bell.broker.empty(watch.lanes)
        talk(f"flushed {flushed} messages of {len(watch.lanes)} queues")
    elif flush:
        talk(NOTHING_TO_FLUSH)
    killed: list[int] = []
    for session, spared in victims:
        if not spared and len(killed) < kills and not kill_process(session.pid):
            killed.append(session.pid)
            talk(f"killed worker {session.pid}")
    if len(killed) < kills:
        _tell_spared(victims)
    return _Harm(flushed, killed, [each for each in victims if each.spared])


def _wait(desk: Desk, watch: Watch, until: datetime) -> list[Account]:
    """Wait for the slots up to an instant; then until all are decided, or should have been."""
    settings, never = desk.app.settings, Event()
    patience = settings.lease + 2 * settings.sweep + settings.grace
    # An event that nobody sets is a rest that Ctrl-C can cut short.
    never.wait(max(0.0, (until - desk.now).total_seconds()))
    while True:
        never.wait(REST)
        accounts = watch.accounts(until)
        if not any(account.behind for account in accounts) or desk.now > until + patience:
            return accounts


def _tell(desk: Desk, watch: Watch, harm: _Harm, accounts: Sequence[Account]) -> None:
    if desk.output.as_json:
        desk.output.json(_answer(watch, harm, accounts))
        return
    desk.output.table(COLUMNS, [_row(each) for each in accounts])
    for account in accounts:
        slots = [desk.shown(slot) for slot in account.lost[:MOST_SLOTS]]
        if slots:
            talk(f"lost of {account.name}: {', '.join(slots)}")
    for session in watch.replaced()[: len(harm.killed)]:
        if session.started_at is not None:
            after = length(session.started_at - watch.began)
            talk(f"worker {session.pid} took the place of a killed one after {after}")
    desk.output.line(_total(accounts))


def _row(account: Account) -> tuple[str, ...]:
    if account.unjudged:
        return ("-", account.name, "", "", account.unjudged, *[""] * 5)
    not_run = ", ".join(f"{count} {reason}" for reason, count in account.not_run.items())
    counts = account.waiting, len(account.lost), account.again
    recovered = length(account.recovered) if account.recovered else "at once"
    return (
        "*" if account.is_well else "x",
        account.name,
        str(account.due),
        str(account.ran),
        not_run or "0",
        *map(str, counts),
        length(account.latest),
        "not yet" if account.recovered is None else recovered,
    )


def _total(accounts: Sequence[Account]) -> str:
    lost = sum(len(each.lost) for each in accounts)
    due, ran, again = (
        sum(getattr(each, name) for each in accounts) for name in ("due", "ran", "again")
    )
    told = f"{due} due, {ran} ran, {again} started again, at most {_latest(accounts)} late"
    if lost:
        return f"error lost slots, {lost} of them: {told}"
    behind = sum(each.waiting for each in accounts if each.behind)
    if behind:
        return f"error waiting for a worker, {behind} of them: {told}"
    recovered = max((each.recovered or timedelta(0) for each in accounts), default=timedelta(0))
    if not due:
        return "ok nothing was due; watch for longer with --for"
    return f"ok nothing was lost: {told}; all well after {length(recovered)}"


def _latest(accounts: Sequence[Account]) -> str:
    return length(max((each.latest for each in accounts), default=timedelta(0)))


def _answer(watch: Watch, harm: _Harm, accounts: Sequence[Account]) -> dict[str, Any]:
    recovered = [each.recovered for each in accounts]
    known = [each.total_seconds() for each in recovered if each is not None]
    return {
        "began_at": as_json(watch.began),
        "flushed": harm.flushed,
        "killed": harm.killed,
        "spared": [
            {"pid": each.pid, "host": each.host, "reason": reason} for each, reason in harm.spared
        ],
        "well": all(each.is_well for each in accounts),
        "lost": sum(len(each.lost) for each in accounts),
        "again": sum(each.again for each in accounts),
        "recovered": max(known, default=0.0) if None not in recovered else None,
        "schedules": [each.to_json() for each in accounts],
    }
