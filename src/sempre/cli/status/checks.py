"""The checks of `sempre status`: problems of a store, by codes that never change.

Pure: decides from the facts that were read before. docs/reference/status.md explains every code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sempre.cli.status.facts import MOST, RECENTLY, SKEW, Facts
from sempre.cli.times import format_duration, json_instant

__all__ = ["CODES", "Problem", "problems_of"]

NAMED = 5
KNOWN_MODES = ("reject", "hold")
Severity = Literal["error", "warning"]
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
    "S301": "executions are overdue",
    "S302": "executions were not announced to the broker",
    "S303": "executions run on workers that are gone",
    "S304": "the broker accepts tickets and delivers none",
    "S401": "no worker is alive",
    "S402": "the host's clock differs from the store's",
    "S403": "the store's clock jumped ahead and back",
    "S404": "the store was emptied and set up again",
    "S501": "switches are off",
    "S601": "pairs had no scan for three intervals",
    "S602": "pairs miss work that their contract finds",
    "S603": "work of pairs fails repeatedly",
    "S604": "scans of pairs are too slow, or read whole tables",
}
"""Every problem that `sempre status` can report."""


@dataclass(frozen=True)
class Problem:
    """One problem of a store.

    Attributes:
        severity: an error makes a store unhealthy, a warning does not.
        names: the schedules, executions, pairs or switches concerned.
        advice: the command to run next.
    """

    code: str
    message: str
    severity: Severity = "error"
    names: tuple[str, ...] = ()
    advice: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the problem as `--json` shows it."""
        return {**vars(self), "names": list(self.names), "advice": self.advice or None}


def problems_of(facts: Facts) -> list[Problem]:
    """Return the problems of a store, errors first."""
    found = [
        *_of_watchdog(facts),
        *_of_history(facts),
        *_of_schedules(facts),
        *_of_declarations(facts),
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
        message = f"{_count(names, 'schedule')} without a next row: {_list(names)}."
        yield Problem("S201", message, names=names, advice="sempre reconcile")
    if facts.broken:
        message = f"{_count(facts.broken, 'schedule')} with a broken grid: {_list(facts.broken)}."
        advice = f"sempre show {facts.broken[0]}"
        yield Problem("S202", message, names=tuple(facts.broken), advice=advice)
    if facts.unread:
        names = tuple(sorted(facts.unread))
        why = f"{names[0]}: {facts.unread[names[0]]}"
        message = f"this process cannot read rows of {_list(names)}. {why}"
        advice = "pip install --upgrade sempre tzdata"
        yield Problem("S203", message, names=names, advice=advice)


def _of_declarations(facts: Facts) -> Iterator[Problem]:
    if facts.orphaned and facts.alive:
        found = f"{_count(facts.orphaned, 'schedule')} with a job that no live worker knows"
        advice = f"sempre disable {facts.orphaned[0]}, or start a worker that declares the job"
        names = tuple(facts.orphaned)
        yield Problem("S204", f"{found}: {_list(names)}.", names=names, advice=advice)
    if facts.pruned:
        found = f"{_count(facts.pruned, 'schedule')} disabled by a deploy, missing from its code"
        first, names = facts.pruned[0], tuple(facts.pruned)
        advice = f"sempre enable {first}, or sempre disable {first} to confirm"
        yield Problem("S205", f"{found}: {_list(names)}.", "warning", names, advice)
    if facts.contested:
        names = tuple(facts.contested)
        found = (
            f"{_count(names, 'schedule')} also declared by code of another owner, which was refused"
        )
        owners = _list([f"{name} ({facts.contested[name]})" for name in names])
        yield Problem("S206", f"{found}: {owners}.", "warning", names, f"sempre show {names[0]}")


def _of_executions(facts: Facts) -> Iterator[Problem]:
    if facts.overdue:
        names = sorted({row.snapshot.name for row in facts.overdue})
        late = f"overdue, up to {format_duration(facts.latest)}"
        message = f"{_count(facts.overdue, 'execution')} {late}: {_list(names)}."
        yield Problem("S301", message, names=tuple(names), advice="sempre executions --running")
    if facts.unannounced:
        ids = tuple(row.id for row in facts.unannounced)
        message = f"{_count(facts.unannounced, 'execution')} not announced to the broker."
        yield Problem("S302", message, "warning", names=ids, advice="sempre reconcile")
    if facts.expired:
        ids = tuple(row.id for row in facts.expired)
        message = (
            f"{_count(facts.expired, 'execution')} on a worker that is gone, not yet reclaimed."
        )
        yield Problem("S303", message, "warning", names=ids, advice="sempre executions --running")


def _of_broker(facts: Facts) -> Iterator[Problem]:
    if facts.deaf:
        lanes = _list(facts.deaf)
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
        found.append(f"{_count(facts.ahead, 'schedule')} ({_list(facts.ahead)})")
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
            message = f"{_count(names, 'pair')} {what}: {_list(names)}."
            yield Problem(code, message, severity, tuple(names), "sempre pairs")


def _count(found: Sequence[object], noun: str) -> str:
    more = " or more" if len(found) >= MOST else ""
    return f"{len(found)}{more} {noun}{'' if len(found) == 1 else 's'}"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
