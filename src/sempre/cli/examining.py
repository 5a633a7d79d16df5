"""Examining a store: is all well, and if not, what is wrong, by codes that never change.

Decides from facts that were read before. docs/reference/status.md explains every code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from sempre.cli.times import as_json, length
from sempre.domain.execution import Execution
from sempre.ports.messages import Session, Switch

__all__ = ["CODES", "Facts", "Problem", "problems_of"]

CODES = {
    "S101": "the watchdog is overdue",
    "S102": "the watchdog has never finished a pass",
    "S201": "schedules have no next row though they want one",
    "S202": "schedules are broken",
    "S301": "executions are overdue",
    "S302": "executions are not known to the broker",
    "S303": "executions run under sessions that are gone",
    "S401": "no worker is alive",
    "S402": "the host's clock differs from the store's",
    "S501": "switches are off",
    "S601": "pairs have not looked for three of their intervals",
    "S602": "pairs do not find work that is unfinished for too long",
    "S603": "work of pairs fails again and again",
    "S604": "pairs take longer than their interval, or read big tables as a whole",
}
"""Every problem that `sempre status` can report."""

NAMED = 5
SKEW = timedelta(seconds=2)
MOST = 100
"""So many of each kind are looked for; more are told of as "100 or more"."""


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be.

    Attributes:
        severity: an error makes a store unhealthy; a warning is a thing to know.
        names: the schedules, executions or switches concerned, some of them.
        advice: the command to run next.
    """

    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    names: tuple[str, ...] = ()
    advice: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as `--json` has it."""
        told = {"code": self.code, "severity": self.severity, "message": self.message}
        return {**told, "names": list(self.names), "advice": self.advice or None}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was read of a store.

    Attributes:
        now: by the store's clock.
        skew: how far the host's clock is from it; zero if it is the host's.
        interval: between two passes of the watchdog.
        passed_at: when the last pass finished; None is never.
        pass_due_at: when the next one is due.
        total: how many schedules there are.
        active: how many of them are enabled.
        paused: how many of them are paused.
        astray: names of those without the next row they want.
        broken: names of those whose grid is broken.
        overdue: live executions that should have started.
        unrung: live executions that the broker should know of and does not.
        expired: running executions whose session is gone.
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
    passed_at: datetime | None
    pass_due_at: datetime
    total: int = 0
    active: int = 0
    paused: int = 0
    astray: Sequence[str] = ()
    broken: Sequence[str] = ()
    overdue: Sequence[Execution] = ()
    unrung: Sequence[Execution] = ()
    expired: Sequence[Execution] = ()
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
        *_of_schedules(facts),
        *_of_executions(facts),
        *_of_workers(facts),
        *_of_switches(facts),
        *_of_pairs(facts),
    ]
    return sorted(found, key=lambda problem: problem.severity)


def _of_watchdog(facts: Facts) -> Iterator[Problem]:
    age = facts.watchdog_age
    if age is None and facts.active and facts.now - facts.pass_due_at > facts.interval:
        yield Problem("S102", "the watchdog has never finished a pass.", advice="sempre worker")
    if age is not None and age > 2 * facts.interval:
        often = length(facts.interval)
        message = f"the last pass of the watchdog was {length(age)} ago; it is due every {often}."
        yield Problem("S101", message, advice="sempre reconcile")


def _of_schedules(facts: Facts) -> Iterator[Problem]:
    if facts.astray:
        message = f"{_count(facts.astray, 'schedule')} without a next row: {_list(facts.astray)}."
        names = tuple(facts.astray)
        yield Problem("S201", message, names=names, advice="sempre reconcile")
    if facts.broken:
        message = f"{_count(facts.broken, 'schedule')} with a broken grid: {_list(facts.broken)}."
        advice = f"sempre show {facts.broken[0]}"
        yield Problem("S202", message, names=tuple(facts.broken), advice=advice)


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


def _of_workers(facts: Facts) -> Iterator[Problem]:
    if facts.active and not facts.alive:
        yield Problem("S401", "no worker is alive.", advice="sempre worker APP")
    if abs(facts.skew) > SKEW:
        message = f"this host's clock is {length(abs(facts.skew))} off the store's."
        yield Problem("S402", message, "warning")


def _of_switches(facts: Facts) -> Iterator[Problem]:
    for each in facts.switches:
        until = f" until {as_json(each.until)}" if each.until else ""
        why = f": {each.reason}" if each.reason else ""
        message = f"the switch {each.name} is off ({each.mode} {each.target}){until}{why}."
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
