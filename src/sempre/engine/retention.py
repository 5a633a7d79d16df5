"""Retention: history is purged for a part of a sweep in each pass, in small transactions.

Time bounds it, and not a number of rows: how many rows a store can delete in a second differs by
orders of magnitude. A pass that leaves old rows makes the next one due soon, and the report of the
pass says since when that is so. If it lasts, history grows faster than it is purged.
"""

from datetime import datetime, timedelta

from sempre.engine.core import Engine
from sempre.engine.pass_report import PassReport

__all__ = ["Retention"]

PURGED_AT_ONCE = 1000
# Parts of a sweep: how long a pass purges, and when the next pass is due if rows are left.
SHARE = 0.25
SOON = 0.25


class Retention:
    """Purges executions that ended longer ago than the retention."""

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine

    def purge(self, report: PassReport) -> None:
        """Purge until no old row is left or the time is over; note both in the report."""
        clock, now = self._engine.clock, self._engine.time.now()
        before: datetime = now - self._engine.settings.retention
        until = clock.elapsed() + SHARE * self._engine.settings.sweep.total_seconds()
        while True:
            gone = self._engine.store.purge(before=before, limit=PURGED_AT_ONCE)
            report.purged += gone
            if gone < PURGED_AT_ONCE:
                report.purging_since = ""
                return
            if clock.elapsed() >= until:
                report.purging_since = report.purging_since or now.isoformat()
                return

    def purge_actions(self) -> None:
        """Purge the oldest part of the log of actions, in one small transaction."""
        before = self._engine.time.now() - self._engine.settings.action_retention
        self._engine.store.purge_actions(before=before, limit=PURGED_AT_ONCE)

    def next_pass_in(self, report: PassReport, *, every: timedelta) -> timedelta | None:
        """Return when the next pass is due if old rows are left; None for the usual time."""
        soon = SOON * self._engine.settings.sweep
        return min(soon, every) if report.purging_since else None
