"""The facts that decide about the health of a store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sempre.app.health.failures import FailedJob, Failing
from sempre.app.times import json_instant
from sempre.domain.execution import Execution
from sempre.ports.health import Backlog
from sempre.ports.messages import Session, Switch

__all__ = ["COUNTED", "HELD_LONG", "MOST", "RECENTLY", "SKEW", "Facts", "HeldWork"]

SKEW = timedelta(seconds=2)
"""A difference between two clocks that is reported."""
RECENTLY = timedelta(days=1)
"""How long an event of the past is reported."""
HELD_LONG = timedelta(hours=1)
"""How long due work may be held by a switch without an end before it is reported."""
MOST = 100
"""The limit of each query; a full answer is reported as "100 or more"."""
COUNTED = 1_000
"""The limit of counts of waiting work, for each queue, priority and kind."""


@dataclass(frozen=True)
class HeldWork:
    """Executions that a switch has held for long.

    Attributes:
        switch: the name of the switch.
        count: the number of executions, up to the limit of the query.
        oldest_due_at: when the first of these executions was due.
    """

    switch: str
    count: int
    oldest_due_at: datetime


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts about a store at one instant.

    Attributes:
        now: the present by the store's clock.
        skew: this host's clock minus the store's; zero if they are one clock.
        interval: the interval of the watchdog in the last pass.
        leeway: how late a pass may begin without being reported.
        passed_at: when the last pass finished; None before the first.
        pass_due_at: when the next pass is due.
        purging_since: since when every pass leaves rows to purge; None if the last pass left none.
        renewed_at: when workers last set up an emptied store again.
        total: the number of schedules.
        active: the number of enabled schedules.
        paused: the number of paused schedules.
        needing_repair: names of schedules that lack their next row.
        broken: names of schedules whose grid is broken.
        unread: by name, why this process cannot read a row.
        orphaned: names of schedules whose job no live worker knows.
        pruned: names of schedules that a deploy disabled, and no operator since.
        contested: by name, the owner of a schedule and the owner refused within a day.
        failing: schedules whose last executions all failed.
        held: by name, the note of a schedule that Sempre paused after an unknown outcome.
        overrunning: names of schedules that have been running for longer than their interval.
        failed_jobs: jobs whose one-off executions failed within a day.
        hopeless_jobs: those of them whose last ten one-off executions all failed.
        quarantined: executions that crashed three times, within a day.
        unknown_work: due one-off work of jobs that no live worker knows.
        unserved_work: due work in queues that no live worker serves.
        held_work: due work that a switch without an end has held for long.
        ahead: names of schedules whose cursor is in the future.
        leases_ahead: the number of workers whose lease is longer than any lease can be.
        overdue: waiting executions that should have started.
        unannounced: waiting executions that were not announced to the broker.
        expired: running executions whose session has ended.
        deaf: lanes in which the broker accepts tickets and delivers none.
        sessions: the registered workers, expired ones included.
        switches: the switches that are off.
        stale_pairs: names of pairs without a recent scan.
        uncovered_pairs: names of pairs whose contract found work that the scan did not.
        poisoned_pairs: names of pairs with work that fails repeatedly.
        slow_pairs: names of pairs whose scan is too slow, or will be.
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
    needing_repair: Sequence[str] = ()
    broken: Sequence[str] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    orphaned: Sequence[str] = ()
    pruned: Sequence[str] = ()
    contested: Mapping[str, str] = field(default_factory=dict)
    failing: Sequence[Failing] = ()
    held: Mapping[str, str] = field(default_factory=dict)
    overrunning: Sequence[str] = ()
    failed_jobs: Sequence[FailedJob] = ()
    hopeless_jobs: Sequence[str] = ()
    quarantined: Sequence[Execution] = ()
    unknown_work: Sequence[Backlog] = ()
    unserved_work: Sequence[Backlog] = ()
    held_work: Sequence[HeldWork] = ()
    ahead: Sequence[str] = ()
    leases_ahead: int = 0
    overdue: Sequence[Execution] = ()
    unannounced: Sequence[Execution] = ()
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
        """The number of workers that hold their lease."""
        return sum(each.is_leased_beyond(self.now) for each in self.sessions)

    @property
    def watchdog_age(self) -> timedelta | None:
        """The time since the last pass finished; None before the first."""
        return None if self.passed_at is None else self.now - self.passed_at

    @property
    def pass_is_late(self) -> bool:
        """Whether a pass should have begun: each live worker has had a heartbeat since it was due.

        The lease of a worker bounds the time to its next heartbeat.
        """
        leases = (each.leased_until - self.now for each in self.sessions if each.leased_until)
        return self.now - self.pass_due_at > max(self.leeway, *leases, timedelta(0))

    @property
    def pass_is_ahead(self) -> bool:
        """Whether the last pass finished in the future, by the store's clock."""
        age = self.watchdog_age
        return age is not None and age < -SKEW

    @property
    def latest(self) -> timedelta:
        """The lateness of the most overdue execution."""
        return max((self.now - row.due_at for row in self.overdue), default=timedelta(0))

    def to_json(self) -> dict[str, object]:
        """Return the numbers that `--json` shows."""
        age = self.watchdog_age
        return {
            "now": json_instant(self.now),
            "watchdog_age_s": None if age is None else round(age.total_seconds(), 3),
            "watchdog_interval_s": self.interval.total_seconds(),
            "schedules": self.total,
            "enabled": self.active,
            "paused": self.paused,
            "without_future": len(self.needing_repair),
            "broken": len(self.broken),
            "unreadable": dict(self.unread),
            "orphaned": len(self.orphaned),
            "failing": [_failing_json(each) for each in self.failing],
            "held": list(self.held),
            "overrunning": list(self.overrunning),
            "failed_jobs": {each.job: each.count for each in self.failed_jobs},
            "quarantined": len(self.quarantined),
            "unknown_work": _count(self.unknown_work),
            "unserved_work": _count(self.unserved_work),
            "held_work": sum(each.count for each in self.held_work),
            "disabled_by_deploy": len(self.pruned),
            "ahead": len(self.ahead),
            "late": len(self.overdue),
            "latest_s": round(self.latest.total_seconds(), 3),
            "unannounced": len(self.unannounced),
            "workers": self.alive,
            "switches_off": [each.name for each in self.switches],
        }


def _failing_json(each: Failing) -> dict[str, object]:
    return {
        "name": each.name,
        "since": json_instant(each.since),
        "failures": each.count,
        "error": each.error,
        "execution": each.execution_id,
    }


def _count(groups: Sequence[Backlog]) -> int:
    return sum(each.count for each in groups)
