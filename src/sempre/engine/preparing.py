"""Preparing: slots that come soon are read and planned before they are due.

Where very many share a second, reading and planning them is most of what the last one is late by.
All of it can be done before, since the store refuses a plan if anything that it was made from has
changed; what is refused is read again. Only plain starts are kept (`domain.planning.plain`): their
plan is the same whenever it is carried out, within the tolerance and before the next slot is due.
Which of them are due, and in which order, the store tells when it is time, as of all others.

Where few are to come nothing is prepared, nor where the store is no server: reading is cheap then.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.planning import Moment, Verdict
from sempre.domain.planning.plain import PlainStart, find_plain_start
from sempre.domain.values import changed, made
from sempre.engine.core import Engine
from sempre.engine.ids import new_id
from sempre.ports.messages import Candidate, Order, Wanted

__all__ = ["Judged", "Preparer"]

AHEAD = 10.0
FRESH = 0.5
FEW = 100
MOST = 10_000
PAGE = 100
AT_ONCE = 4000


class Judged(NamedTuple):
    """An execution, what is to become of it and why, and the order that sees to it."""

    row: Execution
    verdict: Verdict
    reason: str
    order: Order


class _Ready(NamedTuple):
    """A start that is planned, and the ids of what it creates."""

    start: PlainStart
    ids: tuple[str, ...]

    def judged(self, now: datetime) -> Judged:
        """Return it as it is at an instant."""
        order = made(Order, plan=self.start.plan(now), ids=self.ids)
        return Judged(self.start.row, Verdict.START, "", order)


class Preparer:
    """Plans for one worker what it may soon claim.

    Attributes:
        few: as long as fewer are to come, nothing is prepared.
    """

    def __init__(self, engine: Engine, wanted: Wanted) -> None:
        """Begin with nothing prepared."""
        self.few = FEW if engine.store.capabilities.own_clock else MOST
        self._engine = engine
        self._wanted = wanted
        self._ready: dict[str, _Ready] = {}
        self._unread: list[str] = []
        self._ask_at = 0.0
        self._due: list[str] = []
        self._is_all = True
        self._stale_at = 0.0

    @property
    def has_any(self) -> bool:
        """Whether anything is prepared."""
        return bool(self._ready)

    @property
    def knows_more(self) -> bool:
        """Whether more may be due than was handed out."""
        return bool(self._due) or not self._is_all

    def rest(self, wait: float) -> float:
        """Return how long to wait, at most, if the next is due in so many seconds."""
        begins = max(wait - AHEAD, self._ask_at - self._engine.clock.elapsed())
        return min(wait, begins) if begins > 0.0 and self.few < MOST else wait

    def step(self, wait: float) -> bool:
        """Prepare some of what comes, if the next is due in so many seconds; False if none is."""
        elapsed = self._engine.clock.elapsed()
        if not self._unread and wait <= AHEAD and self._ask_at <= elapsed and self.few < MOST:
            self._ask_at = elapsed + AHEAD
            self._ask()
        page, self._unread = self._unread[:PAGE], self._unread[PAGE:]
        self._read(page)
        return bool(page)

    def due(self, wanted: Wanted) -> tuple[dict[str, Judged], list[str]]:
        """Return what is prepared of that which is due and wanted, and the ids of all of it.

        The store is asked for their order once in a while: meanwhile those that it told of go on.
        """
        elapsed = self._engine.clock.elapsed()
        if not self._due or elapsed >= self._stale_at:
            self._stale_at = elapsed + FRESH
            self._ask_for_due(wanted)
        ids, self._due = self._due[: wanted.limit], self._due[wanted.limit :]
        now = self._engine.time.now()
        known = [self._ready.pop(each) for each in ids if each in self._ready]
        right = [each for each in known if each.start.is_right_at(now)]
        return {each.start.row.id: each.judged(now) for each in right}, ids

    def doubt(self) -> None:
        """Ask the store anew before anything else is handed out: others are at it as well."""
        self._due, self._is_all = [], True

    def _ask(self) -> None:
        """Ask what comes, and forget what is no longer among it."""
        wanted = changed(self._wanted, limit=MOST)
        within = timedelta(seconds=2 * AHEAD)
        ids = self._engine.read(self._engine.store.due_ids(wanted, within=within))
        self._ready = {each: self._ready[each] for each in ids if each in self._ready}
        unread = [each for each in ids if each not in self._ready]
        self._unread = unread if len(unread) >= self.few else []

    def _ask_for_due(self, wanted: Wanted) -> None:
        limit = max(wanted.limit, min(len(self._ready), AT_ONCE))
        reading = self._engine.store.due_ids(changed(wanted, limit=limit), within=timedelta(0))
        self._due = self._engine.read(reading)
        self._is_all = len(self._due) < limit
        if self._is_all:
            due = set(self._due)
            self._ready = {
                key: each
                for key, each in self._ready.items()
                if key in due or each.start.row.due_at > reading.now
            }

    def _read(self, ids: Sequence[str]) -> None:
        if ids:
            for candidate in self._engine.read(self._engine.store.candidates(ids)):
                self._prepare(candidate)

    def _prepare(self, candidate: Candidate) -> None:
        """Keep a candidate whose start is plain; any other is met again when it is due."""
        row, view = candidate.execution, candidate.view
        is_alone = view is not None and all(each.id == row.id for each in view.rows)
        is_ours = row.snapshot.job in self._wanted.jobs and candidate.stopped_by is None
        if view is None or not is_alone or not is_ours:
            return
        try:
            start = find_plain_start(view.schedule, row, Moment(row.due_at, self._engine.tzdata))
        except Exception:  # noqa: BLE001 - whatever is wrong with it is told of when it is due
            return
        if start is not None and start.creates:
            told = start._replace(creates=self._engine.told(start.creates))
            now = self._engine.time.now()
            self._ready[row.id] = _Ready(told, tuple([new_id(now) for _ in told.creates]))
