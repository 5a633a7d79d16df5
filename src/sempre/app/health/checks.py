"""The checks of a store: its problems, by codes that never change.

Pure: decides from the facts that were read before. docs/reference/status.md explains every code.
"""

from collections.abc import Iterator, Sequence

from sempre.app.health.facts import RECENTLY, SKEW, Facts
from sempre.app.health.failure_checks import failure_problems
from sempre.app.health.problems import Problem, Severity, counted, listed
from sempre.app.times import format_duration, json_instant

__all__ = ["CODES", "problems_of"]

KNOWN_MODES = ("reject", "hold")
CODES = {
    "S101": "the watchdog is overdue",
    "S102": "the watchdog has never finished a pass",
    "S103": "history grows faster than it is purged",
    "S201": "schedules lack their next row",
    "S202": "schedules are broken",
    "S203": "this process cannot read some rows",
    "S204": "no live worker knows the job of some schedules",
    "S205": "a deploy disabled schedules",
    "S206": "code of another owner was refused",
    "S207": "schedules are failing",
    "S208": "schedules are held after an unknown outcome",
    "S209": "schedules run for longer than their interval",
    "S301": "executions are overdue",
    "S302": "executions were not announced to the broker",
    "S303": "executions run on workers that are gone",
    "S304": "the broker accepts tickets and delivers none",
    "S305": "one-off work failed",
    "S306": "every recent run of a one-off job failed",
    "S307": "no live worker knows the job of due work",
    "S308": "no live worker serves the queue of due work",
    "S309": "executions were quarantined after crashes",
    "S401": "no worker is alive",
    "S402": "the host's clock differs from the store's",
    "S403": "the store's clock jumped ahead and back",
    "S404": "the store was emptied and set up again",
    "S501": "switches are off",
    "S502": "a switch has held due work for long",
    "S601": "pairs had no scan for three intervals",
    "S602": "pairs miss work that their contract finds",
    "S603": "work of pairs fails repeatedly",
    "S604": "scans of pairs are too slow, or read whole tables",
}
"""Every problem of a store that runs: `sempre status` reports it."""


def problems_of(facts: Facts) -> list[Problem]:
    """Return the problems of a store, errors first."""
    found = [
        *_of_watchdog(facts),
        *_of_history(facts),
        *_of_schedules(facts),
        *_of_declarations(facts),
        *failure_problems(facts),
        *_of_executions(facts),
        *_of_broker(facts),
        *_of_workers(facts),
        *_of_clock(facts),
        *_of_renewal(facts),
        *_of_switches(facts),
        *_of_pairs(facts),
    ]
    return sorted(found, key=lambda problem: problem.severity)


def _of_watchdog(facts: Facts) -> Iterator[Problem]:
    age = facts.watchdog_age
    if age is None:
        if facts.active and facts.pass_is_late:
            yield Problem("S102", "the watchdog has never finished a pass.", advice="sempre worker")
        return
    last = f"the last pass finished {format_duration(age)} ago"
    if facts.pass_is_late:
        late = format_duration(facts.now - facts.pass_due_at)
        message = f"the watchdog is overdue by {late}; {last}."
        yield Problem("S101", message, advice="sempre reconcile")
    elif age > 2 * facts.interval:
        message = f"watchdog passes start but do not finish; {last}, the interval is"
        message = f"{message} {format_duration(facts.interval)}."
        yield Problem("S101", message, advice="sempre reconcile")


def _of_history(facts: Facts) -> Iterator[Problem]:
    since = facts.purging_since
    if since is not None and facts.now - since > 2 * facts.interval:
        left = f"every pass since {format_duration(facts.now - since)} ago left rows to purge"
        yield Problem("S103", f"history grows faster than it is purged: {left}.", "warning")


def _of_schedules(facts: Facts) -> Iterator[Problem]:
    if names := tuple(facts.needing_repair):
        message = f"{counted(names, 'schedule')} without a next row: {listed(names)}."
        yield Problem("S201", message, names=names, advice="sempre reconcile")
    if facts.broken:
        message = f"{counted(facts.broken, 'schedule')} with a broken grid: {listed(facts.broken)}."
        advice = f"sempre show {facts.broken[0]}"
        yield Problem("S202", message, names=tuple(facts.broken), advice=advice)
    if facts.unread:
        names = tuple(sorted(facts.unread))
        why = f"{names[0]}: {facts.unread[names[0]]}"
        message = f"this process cannot read rows of {listed(names)}. {why}"
        advice = "pip install --upgrade sempre tzdata"
        yield Problem("S203", message, names=names, advice=advice)


def _of_declarations(facts: Facts) -> Iterator[Problem]:
    if facts.orphaned and facts.alive:
        found = f"{counted(facts.orphaned, 'schedule')} with a job that no live worker knows"
        advice = f"sempre disable {facts.orphaned[0]}, or start a worker that declares the job"
        names = tuple(facts.orphaned)
        yield Problem("S204", f"{found}: {listed(names)}.", names=names, advice=advice)
    if facts.pruned:
        found = f"{counted(facts.pruned, 'schedule')} disabled by a deploy, missing from its code"
        first, names = facts.pruned[0], tuple(facts.pruned)
        advice = f"sempre enable {first}, or sempre disable {first} to confirm"
        yield Problem("S205", f"{found}: {listed(names)}.", "warning", names, advice)
    if facts.contested:
        names = tuple(facts.contested)
        found = f"{counted(names, 'schedule')} also declared by refused code of another owner"
        owners = listed([f"{name} ({facts.contested[name]})" for name in names])
        yield Problem("S206", f"{found}: {owners}.", "warning", names, f"sempre show {names[0]}")


def _of_executions(facts: Facts) -> Iterator[Problem]:
    if facts.overdue:
        names = sorted({row.snapshot.name for row in facts.overdue})
        late = f"overdue, up to {format_duration(facts.latest)}"
        message = f"{counted(facts.overdue, 'execution')} {late}: {listed(names)}."
        yield Problem("S301", message, names=tuple(names), advice="sempre executions --running")
    if facts.unannounced:
        ids = tuple(row.id for row in facts.unannounced)
        message = f"{counted(facts.unannounced, 'execution')} not announced to the broker."
        yield Problem("S302", message, "warning", names=ids, advice="sempre reconcile")
    if facts.expired:
        ids = tuple(row.id for row in facts.expired)
        message = (
            f"{counted(facts.expired, 'execution')} on a worker that is gone, not yet reclaimed."
        )
        yield Problem("S303", message, "warning", names=ids, advice="sempre executions --running")


def _of_broker(facts: Facts) -> Iterator[Problem]:
    if facts.deaf:
        lanes = listed(facts.deaf)
        message = f"the broker accepts tickets and delivers none in {lanes}; workers use the store."
        yield Problem("S304", message, "warning", names=tuple(facts.deaf))


def _of_workers(facts: Facts) -> Iterator[Problem]:
    if facts.active and not facts.alive:
        yield Problem("S401", "no worker is alive.", advice="sempre worker APP")
    if abs(facts.skew) > SKEW:
        skew = format_duration(abs(facts.skew))
        yield Problem("S402", f"this host's clock differs from the store's by {skew}.", "warning")


def _of_clock(facts: Facts) -> Iterator[Problem]:
    found = []
    if facts.ahead:
        found.append(f"{counted(facts.ahead, 'schedule')} ({listed(facts.ahead)})")
    if facts.pass_is_ahead:
        found.append("the last pass of the watchdog")
    if facts.leases_ahead:
        found.append(f"the leases of {facts.leases_ahead} workers")
    if found:
        message = (
            f"the store's clock jumped ahead and back; still in its future: {', '.join(found)}."
        )
        yield Problem("S403", message, names=tuple(facts.ahead), advice="sempre reconcile")


def _of_renewal(facts: Facts) -> Iterator[Problem]:
    at = facts.renewed_at
    if at is not None and facts.now - at < RECENTLY:
        found = f"the store was emptied or replaced, and set up again at {json_instant(at)}"
        message = f"{found}: its earlier content is gone, the schedules of the code are back."
        yield Problem("S404", message, "warning", advice="sempre list")


def _of_switches(facts: Facts) -> Iterator[Problem]:
    for each in facts.switches:
        until = f" until {json_instant(each.until)}" if each.until else ""
        why = f": {each.reason}" if each.reason else ""
        mode = each.mode if each.mode in KNOWN_MODES else f"{each.mode}, unknown here: hold"
        message = f"the switch {each.name} is off ({mode} {each.target}){until}{why}."
        advice = f"sempre switch on {each.name}"
        yield Problem("S501", message, "warning", names=(each.name,), advice=advice)


def _of_pairs(facts: Facts) -> Iterator[Problem]:
    found: tuple[tuple[str, Severity, Sequence[str], str], ...] = (
        ("S601", "error", facts.stale_pairs, "without a scan for three intervals"),
        ("S602", "error", facts.uncovered_pairs, "missing work that their contract finds"),
        ("S603", "warning", facts.poisoned_pairs, "with work that fails repeatedly"),
        ("S604", "warning", facts.slow_pairs, "with a scan that is too slow, or will be"),
    )
    for code, severity, names, what in found:
        if names:
            message = f"{counted(names, 'pair')} {what}: {listed(names)}."
            yield Problem(code, message, severity, tuple(names), "sempre pairs")
