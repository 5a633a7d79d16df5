"""Reads the facts about a store, by queries whose cost is bounded."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sempre.app.health.facts import MOST, RECENTLY, Facts
from sempre.app.health.failing_work import read_failures
from sempre.app.health.failures import is_held
from sempre.app.health.pairs import pairs_of
from sempre.app.health.reader import Reader
from sempre.app.health.waiting_work import read_waiting_work
from sempre.app.schedules.deploy import is_orphan, known_jobs
from sempre.domain.declaration_marks import is_pruned, refused_deploy
from sempre.domain.pair import Scan
from sempre.domain.schedule import AHEAD, Schedule
from sempre.engine.core import Engine
from sempre.engine.watchdog import LEASES
from sempre.grids.unknown_grid import ForeignGrid
from sempre.ports.messages import Pass, Session, View

__all__ = ["facts_among", "instant_in", "interval_of", "read_facts"]


def read_facts(engine: Engine) -> Facts:
    """Read the facts about the store of an engine."""
    reader = Reader(engine)
    return facts_among(reader, list(reader.schedules()))


def facts_among(reader: Reader, schedules: Sequence[Schedule]) -> Facts:
    """Read the facts about a store whose schedules this reader has read."""
    store, settings = reader.store, reader.settings
    reading = store.last_pass()
    last, now = reader.read(reading), reading.now
    host = reader.engine.clock.now() if store.capabilities.remote else now
    sessions, switches = reader.read(store.sessions()), reader.read(store.switches())
    alive = [each for each in sessions if each.is_leased_beyond(now)]
    longest = LEASES * settings.lease + AHEAD
    expired = reader.read(store.expired(MOST))
    read: dict[str, Any] = {
        **_of_pass(last),
        **_of_schedules(reader, schedules, alive),
        **read_failures(reader, schedules, alive),
        **read_waiting_work(reader, alive, switches),
        **_of_pairs(reader, schedules),
    }
    return Facts(
        now=now,
        skew=host - now,
        interval=interval_of(last) or settings.watchdog_interval,
        leeway=settings.sweep + settings.grace,
        leases_ahead=sum(each.is_leased_beyond(now + longest) for each in sessions),
        expired=[candidate.execution for candidate in expired],
        sessions=sessions,
        switches=switches,
        unread=_unread(reader, schedules),
        **read,
    )


def _of_pass(last: Pass) -> dict[str, Any]:
    lanes = last.report.get("deaf")
    return {
        "passed_at": last.finished_at,
        "pass_due_at": last.due_at,
        "purging_since": instant_in(last, "purging_since"),
        "renewed_at": instant_in(last, "renewed_at"),
        "deaf": [str(each) for each in lanes] if isinstance(lanes, list) else [],
    }


def _of_schedules(
    reader: Reader, schedules: Sequence[Schedule], alive: Sequence[Session]
) -> dict[str, Any]:
    tzdata, now = reader.engine.tzdata, reader.now
    jobs = known_jobs(alive, now)
    needing_repair = reader.read(reader.store.needing_repair(tzdata=tzdata, limit=MOST))
    return {
        "total": len(schedules),
        "active": sum(each.definition.enabled for each in schedules),
        "paused": sum(each.pause is not None and each.pause.holds(now) for each in schedules),
        "needing_repair": [each.schedule.name for each in needing_repair if _lacks_next_row(each)],
        "broken": [each.name for each in schedules if each.broken],
        "orphaned": [each.name for each in schedules if is_orphan(each, jobs)],
        "pruned": [each.name for each in schedules if is_pruned(each.declared)],
        "contested": _contested(schedules, now),
        "held": {each.name: _note(each) for each in schedules if is_held(each, now)},
        "ahead": [each.name for each in schedules if each.is_ahead(now)],
    }


def _contested(schedules: Sequence[Schedule], now: datetime) -> dict[str, str]:
    """Return both owners by name, where code of another owner was refused within a day."""
    found = [(each, refused_deploy(each.declared)) for each in schedules if each.declared]
    return {
        each.name: f"of {each.definition.owner}, not of {refused.owner or 'code without owner'}"
        for each, refused in found
        if refused and now - refused.at < RECENTLY
    }


def _note(schedule: Schedule) -> str:
    return schedule.pause.note if schedule.pause else ""


def instant_in(last: Pass, name: str) -> datetime | None:
    """Return an instant from the report of the last pass; None without it."""
    text = last.report.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) and text else None


def interval_of(last: Pass) -> timedelta | None:
    """Return the watchdog interval of the last pass; None before the first."""
    seconds = last.report.get("interval")
    return timedelta(seconds=seconds) if isinstance(seconds, int | float) and seconds else None


def _unread(reader: Reader, schedules: Sequence[Schedule]) -> dict[str, str]:
    """Return by name why this process cannot read a row, or use a built-in grid."""
    grids = [(each.name, each.definition.grid) for each in schedules]
    foreign = [(name, grid) for name, grid in grids if isinstance(grid, ForeignGrid)]
    # Grids of the user's own classes are unknown where the user's code is not imported.
    found = {name: str(grid.error) for name, grid in foreign if grid.refusal is not None}
    return found | {each.name: each.reason for each in reader.unread}


def _of_pairs(reader: Reader, schedules: Sequence[Schedule]) -> dict[str, Any]:
    found = [(pair, pair.scan or Scan()) for pair in pairs_of(reader, schedules)]
    return {
        "stale_pairs": [pair.name for pair, _ in found if pair.is_stale],
        "uncovered_pairs": [pair.name for pair, scan in found if scan.uncovered],
        "poisoned_pairs": [pair.name for pair, scan in found if scan.poisoned],
        "slow_pairs": [pair.name for pair, scan in found if scan.is_behind or scan.full_scans],
    }


def _lacks_next_row(view: View) -> bool:
    """Return whether a schedule has no next row, as opposed to a row with an older stamp."""
    return not any(row.is_untried and row.occupies_slot for row in view.rows)
