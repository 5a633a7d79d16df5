"""The facts that decide about the health of a store, and the queries that read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sempre.app.schedules.deploy import is_orphan, known_jobs
from sempre.cli.context import CommandContext
from sempre.cli.pair_health import pairs_of
from sempre.cli.times import json_instant
from sempre.domain.declaration_marks import is_pruned, refused_deploy
from sempre.domain.execution import Execution
from sempre.domain.pair import Scan
from sempre.domain.schedule import AHEAD, Schedule
from sempre.domain.states import State
from sempre.engine.watchdog import LEASES
from sempre.grids.unknown_grid import ForeignGrid
from sempre.ports.messages import Pass, Session, Switch, View, Waiting

__all__ = ["MOST", "RECENTLY", "SKEW", "Facts", "read_facts"]

SKEW = timedelta(seconds=2)
"""A difference between two clocks that is reported."""
RECENTLY = timedelta(days=1)
"""How long an event of the past is reported."""
MOST = 100
"""The limit of each query; a full answer is reported as "100 or more"."""


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
            "disabled_by_deploy": len(self.pruned),
            "ahead": len(self.ahead),
            "late": len(self.overdue),
            "latest_s": round(self.latest.total_seconds(), 3),
            "unannounced": len(self.unannounced),
            "workers": self.alive,
            "switches_off": [each.name for each in self.switches],
        }


def read_facts(context: CommandContext) -> Facts:
    """Read the facts about a store."""
    store, settings = context.store, context.app.settings
    reading = store.last_pass()
    last, now = context.read(reading), reading.now
    host = context.app.clock.now() if store.capabilities.remote else now
    needing_repair = context.read(
        store.needing_repair(tzdata=context.app.engine.tzdata, limit=MOST)
    )
    schedules = list(context.app.schedules)
    expired = context.read(store.expired(MOST))
    sessions = context.read(store.sessions())
    jobs, switches = known_jobs(sessions, now), context.read(store.switches())
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
        needing_repair=[view.schedule.name for view in needing_repair if _lacks_next_row(view)],
        broken=[each.name for each in schedules if each.broken],
        orphaned=[each.name for each in schedules if is_orphan(each, jobs)],
        pruned=[each.name for each in schedules if is_pruned(each.declared)],
        contested=_contested(schedules, now),
        unread=_unread(context, schedules),
        ahead=[each.name for each in schedules if each.is_ahead(now)],
        leases_ahead=sum(each.is_leased_beyond(now + longest) for each in sessions),
        overdue=_overdue(context),
        unannounced=_unannounced(context),
        deaf=_deaf_of(last),
        expired=[candidate.execution for candidate in expired],
        sessions=sessions,
        switches=switches,
        **_of_pairs(context),
    )


def _contested(schedules: Sequence[Schedule], now: datetime) -> dict[str, str]:
    """Return both owners by name, where code of another owner was refused within a day."""
    found = [(each, refused_deploy(each.declared)) for each in schedules]
    return {
        each.name: f"of {each.definition.owner}, not of {refused.owner or 'code without owner'}"
        for each, refused in found
        if refused and now - refused.at < RECENTLY
    }


def _instant_in(last: Pass, name: str) -> datetime | None:
    """Return an instant from the report of the last pass; None without it."""
    text = last.report.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) and text else None


def _interval_of(last: Pass) -> timedelta | None:
    """Return the watchdog interval of the last pass; None before the first."""
    seconds = last.report.get("interval")
    return timedelta(seconds=seconds) if isinstance(seconds, int | float) and seconds else None


def _unread(context: CommandContext, schedules: Sequence[Schedule]) -> dict[str, str]:
    """Return by name why this process cannot read a row, or use a built-in grid."""
    grids = [(each.name, each.definition.grid) for each in schedules]
    foreign = [(name, grid) for name, grid in grids if isinstance(grid, ForeignGrid)]
    # Grids of the user's own classes are unknown here: the user's code is not imported.
    found = {name: str(grid.error) for name, grid in foreign if grid.refusal is not None}
    return found | {each.name: each.reason for each in context.unread}


def _deaf_of(last: Pass) -> list[str]:
    lanes = last.report.get("deaf")
    return [str(each) for each in lanes] if isinstance(lanes, list) else []


def _of_pairs(context: CommandContext) -> dict[str, list[str]]:
    found = [(pair, pair.scan or Scan()) for pair in pairs_of(context)]
    return {
        "stale_pairs": [pair.name for pair, _ in found if pair.is_stale],
        "uncovered_pairs": [pair.name for pair, scan in found if scan.uncovered],
        "poisoned_pairs": [pair.name for pair, scan in found if scan.poisoned],
        "slow_pairs": [pair.name for pair, scan in found if scan.is_behind or scan.full_scans],
    }


def _lacks_next_row(view: View) -> bool:
    """Return whether a schedule has no next row, as opposed to a row with an older stamp."""
    return not any(row.is_untried and row.occupies_slot for row in view.rows)


def _overdue(context: CommandContext) -> list[Execution]:
    settings = context.app.settings
    late = -(settings.sweep + settings.grace)
    page = context.read(context.store.waiting(None, horizon=late, after="", limit=MOST))
    return [row for row in _executions(context, page.items) if row.is_live]


def _unannounced(context: CommandContext) -> list[Execution]:
    """Return rows due before the next pass that were not announced; new rows may yet be."""
    settings, now = context.app.settings, context.now
    found = context.read(context.store.unannounced(horizon=settings.watchdog_interval, limit=MOST))
    oldest = now - timedelta(seconds=2) - settings.grace
    rows = [row for row in _executions(context, found) if row.state is State.PENDING]
    return [row for row in rows if row.created_at < oldest]


def _executions(context: CommandContext, waiting: Sequence[Waiting]) -> list[Execution]:
    found = context.read(context.store.candidates([each.id for each in waiting]))
    return [each.execution for each in found]
