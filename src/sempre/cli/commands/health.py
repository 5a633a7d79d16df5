"""`sempre status` and `reconcile`: is all well, and make it so."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import click

from sempre.app.schedules.deploy import is_orphan, known_jobs
from sempre.cli.desk import Desk
from sempre.cli.examining import MOST, RECENTLY, Facts, problems_of
from sempre.cli.failing import Code
from sempre.cli.options import operating
from sempre.cli.pairs import pairs_of
from sempre.cli.printing import talk
from sempre.cli.problems import Problem
from sempre.cli.times import length
from sempre.domain.declaration_marks import is_pruned, refused_deploy
from sempre.domain.execution import Execution
from sempre.domain.pair import Scan
from sempre.domain.schedule import AHEAD, Schedule
from sempre.domain.states import State
from sempre.engine.events import Event, Happened
from sempre.engine.pass_report import Report
from sempre.engine.watchdog import LEASES
from sempre.grids.unknown_grid import ForeignGrid
from sempre.ports.messages import Pass, View, Waiting

__all__ = ["examine", "reconcile", "status"]


@click.command
@operating
def status(desk: Desk) -> None:
    """Tell whether all is well.

    Exit 1 if it is not. Every problem has a code that never changes, for scripts and alarms.
    """
    facts = examine(desk)
    problems = problems_of(facts)
    healthy = not any(problem.severity == "error" for problem in problems)
    if desk.output.as_json:
        told = [problem.to_json() for problem in problems]
        desk.output.json({"healthy": healthy, **facts.to_json(), "problems": told})
    else:
        _tell(desk, facts, problems, healthy=healthy)
    if not healthy:
        raise click.exceptions.Exit(Code.UNHEALTHY)


@click.command
@click.argument("name", required=False)
@operating
def reconcile(desk: Desk, *, name: str | None) -> None:
    """Heal now what is not as it should be.

    One pass of the watchdog over every schedule, due or not; or over the one of a NAME.
    """
    desk.app.events.listen(_tell_faulty, Happened.FAULTY, Happened.UNKNOWN_GRID)
    if name is not None:
        _reconcile_one(desk, name)
        return
    report = desk.app.watchdog.force()
    if desk.output.as_json:
        desk.output.json({"report": report.facts})
    else:
        desk.output.lines(_healed(report))
        talk(f"looked at {report.schedules_processed} schedules in {length(report.seconds)}.")
    if report.schedules_failed:
        raise click.exceptions.Exit(Code.UNHEALTHY)


def examine(desk: Desk) -> Facts:
    """Read what tells whether all is well."""
    store, settings = desk.store, desk.app.settings
    reading = store.last_pass()
    last, now = desk.read(reading), reading.now
    host = desk.app.clock.now() if store.capabilities.own_clock else now
    astray = desk.read(store.astray(tzdata=desk.app.engine.tzdata, limit=MOST))
    schedules = list(desk.app.schedules)
    expired = desk.read(store.expired(MOST))
    sessions = desk.read(store.sessions())
    jobs, switches = known_jobs(sessions, now), desk.read(store.switches())
    late, orphans, pairs = _overdue(desk), _unrung(desk), _of_pairs(desk)
    longest = LEASES * settings.lease + AHEAD
    return Facts(
        now=now,
        skew=host - now,
        interval=_interval_of(last) or settings.watchdog_interval,
        leeway=settings.sweep + settings.grace,
        passed_at=last.finished_at,
        pass_due_at=last.due_at,
        purging_since=_instant_in(last, "purging_since"),
        renewed_at=_instant_in(last, "renewed_at"),
        total=len(schedules),
        active=sum(each.definition.enabled for each in schedules),
        paused=sum(each.pause is not None and each.pause.holds(now) for each in schedules),
        astray=[view.schedule.name for view in astray if _lacks_next_row(view)],
        broken=[each.name for each in schedules if each.broken],
        orphaned=[each.name for each in schedules if is_orphan(each, jobs)],
        pruned=[each.name for each in schedules if is_pruned(each.declared)],
        contested=_contested(schedules, now),
        unread=_unread(desk, schedules),
        ahead=[each.name for each in schedules if each.is_ahead(now)],
        leases_ahead=sum(each.is_leased_beyond(now + longest) for each in sessions),
        overdue=late,
        unrung=orphans,
        deaf=_deaf_of(last),
        expired=[candidate.execution for candidate in expired],
        sessions=sessions,
        switches=switches,
        **pairs,
    )


def _contested(schedules: Sequence[Schedule], now: datetime) -> dict[str, str]:
    """Return by name both owners, where code of another one was refused within a day."""
    found = [(each, refused_deploy(each.declared)) for each in schedules]
    return {
        each.name: f"of {each.definition.owner}, not of {refused.owner or 'code without owner'}"
        for each, refused in found
        if refused and now - refused.at < RECENTLY
    }


def _instant_in(last: Pass, name: str) -> datetime | None:
    """Return an instant that the last pass has reported, if it has."""
    text = last.report.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) and text else None


def _interval_of(last: Pass) -> timedelta | None:
    """Return the interval of whoever ran the last pass; None before the first one."""
    seconds = last.report.get("interval")
    return timedelta(seconds=seconds) if isinstance(seconds, int | float) and seconds else None


def _unread(desk: Desk, schedules: Sequence[Schedule]) -> dict[str, str]:
    """Return by name why rows cannot be read, or grids of ours not be used, in this process."""
    grids = [(each.name, each.definition.grid) for each in schedules]
    foreign = [(name, grid) for name, grid in grids if isinstance(grid, ForeignGrid)]
    # The command line does not import the user's code, which may have grids of its own.
    found = {name: str(grid.error) for name, grid in foreign if grid.refusal is not None}
    return found | {each.name: each.reason for each in desk.unread}


def _deaf_of(last: Pass) -> list[str]:
    lanes = last.report.get("deaf")
    return [str(each) for each in lanes] if isinstance(lanes, list) else []


def _of_pairs(desk: Desk) -> dict[str, list[str]]:
    found = [(pair, pair.scan or Scan()) for pair in pairs_of(desk)]
    return {
        "stale_pairs": [pair.name for pair, _ in found if pair.is_stale],
        "uncovered_pairs": [pair.name for pair, scan in found if scan.uncovered],
        "poisoned_pairs": [pair.name for pair, scan in found if scan.poisoned],
        "slow_pairs": [pair.name for pair, scan in found if scan.is_behind or scan.full_scans],
    }


def _lacks_next_row(view: View) -> bool:
    """Tell a schedule without a next row from one whose row only has an older stamp."""
    return not any(row.is_untried and row.occupies_slot for row in view.rows)


def _overdue(desk: Desk) -> list[Execution]:
    settings = desk.app.settings
    late = -(settings.sweep + settings.grace)
    page = desk.read(desk.store.waiting(None, horizon=late, after="", limit=MOST))
    return [row for row in _executions(desk, page.items) if row.is_live]


def _unrung(desk: Desk) -> list[Execution]:
    """Return rows due before the next pass that were not told of; the youngest may yet be."""
    settings, now = desk.app.settings, desk.now
    found = desk.read(desk.store.unrung(horizon=settings.watchdog_interval, limit=MOST))
    oldest = now - timedelta(seconds=2) - settings.grace
    rows = [row for row in _executions(desk, found) if row.state is State.PENDING]
    return [row for row in rows if row.created_at < oldest]


def _executions(desk: Desk, waiting: Sequence[Waiting]) -> list[Execution]:
    found = desk.read(desk.store.candidates([each.id for each in waiting]))
    return [each.execution for each in found]


def _tell(desk: Desk, facts: Facts, problems: list[Problem], *, healthy: bool) -> None:
    out, age = desk.output, facts.watchdog_age
    out.line("healthy" if healthy else "unhealthy")
    stopped = f" ({facts.total - facts.active} disabled, {facts.paused} paused)"
    out.line(f"  schedules    {facts.total}{stopped if facts.total else ''}")
    passed = "never" if age is None else f"{length(max(age, timedelta(0)))} ago"
    if facts.pass_is_ahead:
        passed = "at a time that has yet to come"
    out.line(f"  watchdog     {passed} (every {length(facts.interval)})")
    out.line(f"  workers      {facts.alive}")
    out.line(f"  overdue      {len(facts.overdue)}")
    for problem in problems:
        out.line(f"{problem.severity} {problem.code}  {problem.message}")
        if problem.advice:
            talk(f"  try: {problem.advice}")


def _reconcile_one(desk: Desk, name: str) -> None:
    [handle] = desk.handles([name])
    healed = handle.reconcile() if handle.started else handle.start() is not None
    row = handle.row
    if desk.output.as_json:
        desk.output.json({"name": name, "healed": healed})
        return
    word = "healed" if healed else "ok"
    slot = row.next_run_at
    after = f", next {desk.shown(slot, row.definition.grid)}" if slot else ", no next slot"
    desk.output.line(f"{word} {name}{after}")


def _healed(report: Report) -> list[str]:
    counts = {
        "executions created": report.executions_created,
        "orphans enqueued": report.orphans_enqueued,
        "executions rung again": report.rung_again,
        "old executions purged": report.purged,
        "schedules that could not be dealt with": report.schedules_failed,
    }
    return [f"{count} {what}" for what, count in counts.items() if count] or ["nothing to heal"]


def _tell_faulty(event: Event) -> None:
    talk(f"warning: {event.facts.get('schedule')} is left alone: {event.facts.get('error')}")
