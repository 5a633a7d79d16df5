"""Examining a store: is all well, and if not, what is wrong, by codes that never change.

Decides from facts that were read before. docs/reference/status.md explains every code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sempre.cli.problems import Problem
from sempre.cli.times import as_json, length
from sempre.domain.execution import Execution
from sempre.ports.messages import Session, Switch

__all__ = ["Facts", "problems_of"]

NAMED = 5
SKEW = timedelta(seconds=2)
RECENTLY = timedelta(days=1)
KNOWN_MODES = ("reject", "hold")
MOST = 100
"""So many of each kind are looked for; more are told of as "100 or more"."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was read of a store.

    Attributes:
        now: by the store's clock.
        skew: how far the host's clock is from it; zero if it is the host's.
        interval: between two passes of the watchdog, as the last pass had it.
        leeway: how late a pass may begin, at least.
        passed_at: when the last pass finished; None is never.
        pass_due_at: when the next one is due.
        purging_since: since when passes leave rows that are to be purged; None if they do not.
        renewed_at: when workers set the store up again, if somebody had emptied it.
        total: how many schedules there are.
        active: how many of them are enabled.
        paused: how many of them are paused.
        astray: names of those without the next row they want.
        broken: names of those whose grid is broken.
        unread: by name, why a schedule or another row cannot be read here.
        orphaned: names of those with a job that no live worker knows.
        pruned: names of those that a deploy disabled, and no operator since.
        contested: by name, the owner and the one that was refused within a day.
        ahead: names of those whose cursor is in the future.
        leases_ahead: how many workers have a lease that is longer than is possible.
        overdue: live executions that should have started.
        unrung: live executions that the broker should know of and does not.
        expired: running executions whose session is gone.
        deaf: lanes in which the last pass found the broker deaf.
        sessions: the registered workers, expired ones included.
        switches: those that are off.
        stale_pairs: names of pairs that have not looked for long.
        uncovered_pairs: names of those whose contract found more than they did.
        poisoned_pairs: names of those with work that fails again and again.
        slow_pairs: names of those that take too long, or will.
    """

    now: datetime
    skew: timedelta = timedelta(0)
    interval: timedelta
    leeway: timedelta
    passed_at: datetime | None
    pass_due_at: datetime
    purging_since: datetime | None = None
    renewed_at: datetime | None = None
    total: int = 0
    active: int = 0
    paused: int = 0
    astray: Sequence[str] = ()
    broken: Sequence[str] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    orphaned: Sequence[str] = ()
    pruned: Sequence[str] = ()
    contested: Mapping[str, str] = field(default_factory=dict)
    ahead: Sequence[str] = ()
    leases_ahead: int = 0
    overdue: Sequence[Execution] = ()
    unrung: Sequence[Execution] = ()
    expired: Sequence[Execution] = ()
    deaf: Sequence[str] = ()
    sessions: Sequence[Session] = ()
    switches: Sequence[Switch] = field(default=())
    stale_pairs: Sequence[str] = ()
    uncovered_pairs: Sequence[str] = ()
    poisoned_pairs: Sequence[str] = ()
    slow_pairs: Sequence[str] = ()

    @property
    def alive(self) -> int:
        """How many workers hold their lease."""
        leases = (each.leased_until for each in self.sessions)
        return sum(lease is not None and lease > self.now for lease in leases)

    @property
    def watchdog_age(self) -> timedelta | None:
        """How long ago the last pass finished."""
        return None if self.passed_at is None else self.now - self.passed_at

    @property
    def pass_is_late(self) -> bool:
        """Whether a pass should have begun: every worker that is alive has had its beat since.

        Its lease tells how long that may take.
        """
        leases = (each.leased_until - self.now for each in self.sessions if each.leased_until)
        return self.now - self.pass_due_at > max(self.leeway, *leases, timedelta(0))

    @property
    def pass_is_ahead(self) -> bool:
        """Whether the last pass finished at a time that has yet to come."""
        age = self.watchdog_age
        return age is not None and age < -SKEW

    @property
    def latest(self) -> timedelta:
        """How late the most overdue execution is."""
        return max((self.now - row.due_at for row in self.overdue), default=timedelta(0))

    def to_json(self) -> dict[str, object]:
        """Return the numbers as `--json` has them."""
        age = self.watchdog_age
        return {
            "now": as_json(self.now),
            "watchdog_age_s": None if age is None else round(age.total_seconds(), 3),
            "watchdog_interval_s": self.interval.total_seconds(),
            "schedules": self.total,
            "enabled": self.active,
            "paused": self.paused,
            "without_future": len(self.astray),
            "broken": len(self.broken),
            "unreadable": dict(self.unread),
            "orphaned": len(self.orphaned),
            "disabled_by_deploy": len(self.pruned),
            "ahead": len(self.ahead),
            "late": len(self.overdue),
            "latest_s": round(self.latest.total_seconds(), 3),
            "unrung": len(self.unrung),
            "workers": self.alive,
            "switches_off": [each.name for each in self.switches],
        }


def problems_of(facts: Facts) -> list[Problem]:
    """Return what is wrong, errors first."""
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
    if facts.pass_is_late:
        late = length(facts.now - facts.pass_due_at)
        due = f"the pass of the watchdog has been due for {late}"
        message = f"{due}; the last one finished {length(age)} ago."
        yield Problem("S101", message, advice="sempre reconcile")
    elif age > 2 * facts.interval:
        begun = "passes of the watchdog begin and do not finish"
        often = f"one is due every {length(facts.interval)}"
        message = f"{begun}: the last one that did was {length(age)} ago, and {often}."
        yield Problem("S101", message, advice="sempre reconcile")


def _of_history(facts: Facts) -> Iterator[Problem]:
    since = facts.purging_since
    if since is not None and facts.now - since > 2 * facts.interval:
        begun = f"every pass for {length(facts.now - since)} has left rows that are to be purged"
        yield Problem("S103", f"history grows faster than it is purged: {begun}.", "warning")


def _of_schedules(facts: Facts) -> Iterator[Problem]:
    if facts.astray:
        message = f"{_count(facts.astray, 'schedule')} without a next row: {_list(facts.astray)}."
        names = tuple(facts.astray)
        yield Problem("S201", message, names=names, advice="sempre reconcile")
    if facts.broken:
        message = f"{_count(facts.broken, 'schedule')} with a broken grid: {_list(facts.broken)}."
        advice = f"sempre show {facts.broken[0]}"
        yield Problem("S202", message, names=tuple(facts.broken), advice=advice)
    if facts.unread:
        names = tuple(sorted(facts.unread))
        why = f"{names[0]}: {facts.unread[names[0]]}"
        message = f"rows that cannot be read here, of {_list(names)}. {why}"
        advice = "pip install --upgrade sempre tzdata"
        yield Problem("S203", message, names=names, advice=advice)


def _of_declarations(facts: Facts) -> Iterator[Problem]:
    if facts.orphaned and facts.alive:
        have = f"{_count(facts.orphaned, 'schedule')} with a job that no live worker knows"
        advice = f"sempre disable {facts.orphaned[0]}, or start a worker that declares the job"
        names = tuple(facts.orphaned)
        yield Problem("S204", f"{have}: {_list(names)}.", names=names, advice=advice)
    if facts.pruned:
        have = f"{_count(facts.pruned, 'schedule')} disabled by a deploy, gone from the code"
        first, names = facts.pruned[0], tuple(facts.pruned)
        advice = f"sempre enable {first}, or sempre disable {first} to keep it so"
        yield Problem("S205", f"{have}: {_list(names)}.", "warning", names, advice)
    if facts.contested:
        names = tuple(facts.contested)
        have = (
            f"{_count(names, 'schedule')} that code of another owner declares too, and was refused"
        )
        told = _list([f"{name} ({facts.contested[name]})" for name in names])
        yield Problem("S206", f"{have}: {told}.", "warning", names, f"sempre show {names[0]}")


def _of_executions(facts: Facts) -> Iterator[Problem]:
    if facts.overdue:
        names = sorted({row.snapshot.name for row in facts.overdue})
        late = f"{_count(facts.overdue, 'execution')} overdue, the latest by {length(facts.latest)}"
        message = f"{late}: {_list(names)}."
        yield Problem("S301", message, names=tuple(names), advice="sempre executions --running")
    if facts.unrung:
        ids = tuple(row.id for row in facts.unrung)
        message = f"{_count(facts.unrung, 'execution')} that the broker was not told of."
        yield Problem("S302", message, "warning", names=ids, advice="sempre reconcile")
    if facts.expired:
        ids = tuple(row.id for row in facts.expired)
        message = f"{_count(facts.expired, 'execution')} whose worker is gone; not yet taken back."
        yield Problem("S303", message, "warning", names=ids, advice="sempre executions --running")


def _of_broker(facts: Facts) -> Iterator[Problem]:
    if facts.deaf:
        lanes = _list(facts.deaf)
        message = f"the broker takes tickets and delivers none: {lanes}; the store serves instead."
        yield Problem("S304", message, "warning", names=tuple(facts.deaf))


def _of_workers(facts: Facts) -> Iterator[Problem]:
    if facts.active and not facts.alive:
        yield Problem("S401", "no worker is alive.", advice="sempre worker APP")
    if abs(facts.skew) > SKEW:
        message = f"this host's clock is {length(abs(facts.skew))} off the store's."
        yield Problem("S402", message, "warning")


def _of_clock(facts: Facts) -> Iterator[Problem]:
    found = []
    if facts.ahead:
        found.append(f"{_count(facts.ahead, 'schedule')} ({_list(facts.ahead)})")
    if facts.pass_is_ahead:
        found.append("the last pass of the watchdog")
    if facts.leases_ahead:
        found.append(f"the leases of {facts.leases_ahead} workers")
    if found:
        message = f"the store's clock had jumped: {', '.join(found)} still ahead of it."
        yield Problem("S403", message, names=tuple(facts.ahead), advice="sempre reconcile")


def _of_renewal(facts: Facts) -> Iterator[Problem]:
    at = facts.renewed_at
    if at is not None and facts.now - at < RECENTLY:
        lost = "what it held before is gone, and the code's schedules were declared anew"
        found = f"the store was found empty or replaced at {as_json(at)}"
        message = f"{found} and set up again: {lost}."
        yield Problem("S404", message, "warning", advice="sempre list")


def _of_switches(facts: Facts) -> Iterator[Problem]:
    for each in facts.switches:
        until = f" until {as_json(each.until)}" if each.until else ""
        why = f": {each.reason}" if each.reason else ""
        how = each.mode if each.mode in KNOWN_MODES else f"{each.mode}, unknown here: hold"
        message = f"the switch {each.name} is off ({how} {each.target}){until}{why}."
        yield Problem("S501", message, "warning", names=(each.name,))


def _of_pairs(facts: Facts) -> Iterator[Problem]:
    told = (
        ("S601", facts.stale_pairs, "not looked for three intervals", "error"),
        ("S602", facts.uncovered_pairs, "left work that their contract finds uncovered", "error"),
        ("S603", facts.poisoned_pairs, "work that fails again and again", "warning"),
        ("S604", facts.slow_pairs, "a query that is too slow, or will be", "warning"),
    )
    for code, names, what, severity in told:
        if names:
            have = "has" if len(names) == 1 else "have"
            message = f"{_count(names, 'pair')} {have} {what}: {_list(names)}."
            problem = Problem(code, message, names=tuple(names), advice="sempre pairs")
            yield problem if severity == "error" else replace(problem, severity="warning")


def _count(found: Sequence[object], noun: str) -> str:
    more = " or more" if len(found) >= MOST else ""
    return f"{len(found)}{more} {noun}{'' if len(found) == 1 else 's'}"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
