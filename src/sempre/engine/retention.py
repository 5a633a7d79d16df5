"""Retention: history is purged for a part of a sweep in each pass, in small transactions.

A purge goes along history by the end of executions, one way for each retention: that of the
setting, and each that schedules have of their own. The report of the pass carries how far each way
has come. So every ended execution is examined once, when it becomes older than its retention, and
what a schedule keeps whatever its age costs the next pass nothing.

Once in 30 days a way begins anew: by then schedules were deleted, or got another retention, while
none of their executions was left to be examined. A way begins anew as well if its place is unknown,
or is younger than the retention, as after a jump of the clock. That costs time and loses nothing.

Time bounds a pass, and not a number of rows: how many rows a store can delete in a second differs
by orders of magnitude. A pass that leaves old rows makes the next one due soon, and the report of
the pass says since when that is so. If it lasts, history grows faster than it is purged.
"""

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.domain.arguments import Json
from sempre.engine.core import Engine
from sempre.engine.pass_report import PassReport
from sempre.errors import InstantError
from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged

__all__ = ["Retention"]

PURGED_AT_ONCE = 1000
# Parts of a sweep: how long a pass purges, and when the next pass is due if rows are left.
SHARE = 0.25
SOON = 0.25
ROUND = timedelta(days=30)
SETTING = "setting"


@dataclass
class _Way:
    """The way of purges along history under one retention.

    Attributes:
        own: the retention that schedules have of their own; None for the setting.
        before: executions that ended before this instant are old.
        began: when the way began at the beginning of history, as a text.
        after: how far the way has come.
    """

    own: timedelta | None
    before: datetime
    began: str = ""
    after: str = ""

    @property
    def name(self) -> str:
        """The name of the way in the report of a pass."""
        return SETTING if self.own is None else str(self.own.total_seconds())

    def go_on(self, known: Json, now: datetime) -> None:
        """Go on where an earlier pass ended, or begin anew."""
        match known:
            case [str(began), str(after)] if self._is_valid(began, after, now):
                self.began, self.after = began, after
            case _:
                self.began = now.isoformat()

    def _is_valid(self, began: str, after: str, now: datetime) -> bool:
        try:
            is_recent = timedelta(0) <= now - PageKey.read(began).run_at < ROUND
            return is_recent and (not after or PageKey.read(after).run_at <= self.before)
        except InstantError:
            return False

    def purge(self) -> Purge:
        """Return what to ask of the store next."""
        retention = self.own or "setting"
        asked = {"before": self.before, "after": self.after, "limit": PURGED_AT_ONCE}
        return Purge(retention=retention, **asked)  # type: ignore[arg-type]


class Retention:
    """Purges executions that ended longer ago than the retention."""

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine

    def purge(self, report: PassReport) -> None:
        """Purge until no old row is left or the time is over; note both in the report."""
        clock, now = self._engine.clock, self._engine.time.now()
        until = clock.elapsed() + SHARE * self._engine.settings.sweep.total_seconds()
        ways = self._ways(report, now)
        report.purges = {way.name: [way.began, way.after] for way in ways}
        while ways:
            way = ways.popleft()
            done: Purged = self._engine.store.purge(way.purge())
            report.purged += done.count
            del report.purges[way.name]  # The way that had its turn last comes last.
            report.purges[way.name] = [way.began, done.after]
            if done.more:
                way.after = done.after
                ways.append(way)
            if ways and clock.elapsed() >= until:
                report.purging_since = report.purging_since or now.isoformat()
                return
        report.purging_since = ""

    def _ways(self, report: PassReport, now: datetime) -> deque[_Way]:
        """Return a way for each retention; the way whose turn was the longest ago comes first."""
        setting, known = self._engine.settings.retention, report.purges
        own: list[timedelta | None] = [None, *self._engine.store.retentions()]
        ways = [_Way(each, now - (each or setting)) for each in own]
        for way in ways:
            way.go_on(known.get(way.name), now)
        names = list(known)
        ways.sort(key=lambda way: names.index(way.name) if way.name in known else -1)
        return deque(ways)

    def purge_records(self) -> None:
        """Purge the oldest actions and ranges of slots, each in one small transaction.

        Both are records of why slots did not run, and are kept equally long.
        """
        before = self._engine.time.now() - self._engine.settings.action_retention
        self._engine.store.purge_actions(before=before, limit=PURGED_AT_ONCE)
        self._engine.store.purge_ranges(before=before, limit=PURGED_AT_ONCE)

    def next_pass_in(self, report: PassReport, *, every: timedelta) -> timedelta | None:
        """Return when the next pass is due if old rows are left; None for the usual time."""
        soon = SOON * self._engine.settings.sweep
        return min(soon, every) if report.purging_since else None
