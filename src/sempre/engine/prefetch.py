"""Prefetch: starts of slots that are planned before they are due.

A plan can be made early: the store refuses a plan if anything that it was made from has changed,
and a refused slot is read and planned anew. Only plain starts are planned early
(`domain.planning.fast_path`): within the tolerance, and before the next slot is due, such a plan
does not depend on when it is carried out.

There are two sources of plans. A worker that has run a slot to its success knows all about the next
one, and reads nothing. Where many slots of other workers come soon, and the store is a server, they
are read in pages: where very many slots share a second, reading and planning them is most of the
lateness of the last one.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime
from sempre.domain.planning.fast_path import PlainStart, find_plain_start
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.engine.core import Engine, born_by
from sempre.engine.ids import new_id
from sempre.ports.messages import Candidate, Order, Wanted

__all__ = ["FRESH", "Prefetch"]

AHEAD = 10.0
FRESH = 0.5
FEW = 100
MOST = 10_000
PAGE = 100
AT_ONCE = 4000


class _Planned(NamedTuple):
    """A planned start, and the ids of the executions that it creates."""

    start: PlainStart
    ids: tuple[str, ...]

    def order(self, now: datetime) -> Order:
        """Return the order of the start at an instant."""
        return Order(self.start.plan(now), self.ids)


class Prefetch:
    """Plans for one worker what it may soon claim.

    Attributes:
        few: pages are read if at least so many slots come soon.
    """

    def __init__(self, engine: Engine, wanted: Wanted) -> None:
        """Begin with nothing planned."""
        self.few = FEW if engine.store.capabilities.remote else MOST
        self._engine = engine
        self._wanted = wanted
        self._planned: dict[str, _Planned] = {}
        # The next slot of each run under way, by the id of the run.
        self._following: dict[str, tuple[Schedule, Execution]] = {}
        self._ends: deque[tuple[str, datetime | None]] = deque()
        self._unread: list[str] = []
        self._ask_at = 0.0
        self._due: list[str] = []
        self._is_all = True
        self._stale_at = 0.0
        self._tidy_at = 0.0

    @property
    def has_any(self) -> bool:
        """Whether any start is planned where the store is a server."""
        self._plan_following()
        return bool(self._planned) and self.few < MOST

    @property
    def knows_more(self) -> bool:
        """Whether more may be due than was returned."""
        return bool(self._due) or not self._is_all

    def rest(self, wait: float) -> float:
        """Return how long to wait, at most, if the next slot is due in so many seconds."""
        begins = max(wait - AHEAD, self._ask_at - self._engine.clock.elapsed())
        return min(wait, begins) if begins > 0.0 and self.few < MOST else wait

    def step(self, wait: float) -> bool:
        """Read a page if the next slot is due in so many seconds; False if there is none."""
        elapsed = self._engine.clock.elapsed()
        if not self._unread and wait <= AHEAD and self._ask_at <= elapsed and self.few < MOST:
            self._ask_at = elapsed + AHEAD
            self._ask()
        page, self._unread = self._unread[:PAGE], self._unread[PAGE:]
        self._read(page)
        return bool(page)

    # Slots of this worker

    def follow(self, order: Order, execution: Execution) -> None:
        """Note the next slot of a run that begins, as its order creates that slot."""
        self._planned.pop(execution.id, None)
        if self._engine.bell.carries:
            # The row of the next slot changes when its ticket is rung.
            return
        schedule, born = order.plan.schedule, born_by(order, self._engine.time.now())
        if schedule is not None and len(born) == 1 and len(self._following) < MOST:
            self._following[execution.id] = schedule, born[0]

    def note_end(self, execution_id: str, *, succeeded: bool) -> None:
        """Note that a run is settled; callable from any thread."""
        self._ends.append((execution_id, self._engine.time.now() if succeeded else None))

    def take_planned(self, ids: Iterable[str], limit: int) -> list[Order]:
        """Return and forget planned starts of these ids, at most `limit`, the most urgent first."""
        self._plan_following()
        now = self._engine.time.now()
        found = [self._planned[each].start for each in ids if each in self._planned]
        right = sorted((each for each in found if each.is_right_at(now)), key=_urgency)[:limit]
        return [self._planned.pop(each.row.id).order(now) for each in right]

    def _plan_following(self) -> None:
        """Plan the slots that follow runs which have succeeded before those slots are due."""
        while self._ends:
            identity, ended_at = self._ends.popleft()
            found = self._following.pop(identity, None)
            if found is not None and ended_at is not None and self._has_room():
                schedule, row = found
                if row.due_at > ended_at:
                    self._plan(schedule, row)

    def _has_room(self) -> bool:
        """Whether another start can be kept; those that others have claimed are forgotten."""
        elapsed = self._engine.clock.elapsed()
        if len(self._planned) >= MOST and self._tidy_at <= elapsed:
            self._tidy_at = elapsed + AHEAD
            self._keep((), self._engine.time.now())
        return len(self._planned) < MOST

    # Slots of the store

    def due(self, wanted: Wanted) -> tuple[dict[str, Order], list[str]]:
        """Return planned starts that are due, and the ids of every due row.

        The order is refreshed from the store every `FRESH` seconds.
        """
        elapsed = self._engine.clock.elapsed()
        if not self._due or elapsed >= self._stale_at:
            self._stale_at = elapsed + FRESH
            self._ask_for_due(wanted)
        ids, self._due = self._due[: wanted.limit], self._due[wanted.limit :]
        now = self._engine.time.now()
        known = [self._planned.pop(each) for each in ids if each in self._planned]
        right = [each for each in known if each.start.is_right_at(now)]
        return {each.start.row.id: each.order(now) for each in right}, ids

    def doubt(self) -> None:
        """Query the store again before another id is returned: other workers claim as well."""
        self._due, self._is_all = [], True

    def _ask(self) -> None:
        """Query which slots come soon, and forget planned starts that are not among them."""
        wanted = copy_with(self._wanted, limit=MOST)
        within = timedelta(seconds=2 * AHEAD)
        reading = self._engine.store.due_ids(wanted, within=within)
        ids = self._engine.read(reading)
        if len(ids) < MOST:
            self._keep(ids, reading.now + within)
        known = {row.id for _, row in self._following.values()}
        unread = [each for each in ids if each not in self._planned and each not in known]
        self._unread = unread if len(unread) >= self.few else []

    def _ask_for_due(self, wanted: Wanted) -> None:
        limit = max(wanted.limit, min(len(self._planned), AT_ONCE))
        reading = self._engine.store.due_ids(copy_with(wanted, limit=limit), within=timedelta(0))
        self._due = self._engine.read(reading)
        self._is_all = len(self._due) < limit
        if self._is_all:
            self._keep(self._due, reading.now)

    def _keep(self, ids: Iterable[str], until: datetime) -> None:
        """Forget planned starts that are due by an instant, but for these."""
        kept = set(ids)
        self._planned = {
            key: each
            for key, each in self._planned.items()
            if key in kept or each.start.row.due_at > until
        }

    def _read(self, ids: Sequence[str]) -> None:
        if ids:
            for candidate in self._engine.read(self._engine.store.candidates(ids)):
                self._prepare(candidate)

    def _prepare(self, candidate: Candidate) -> None:
        """Plan the start of a candidate if that is plain; any other is read again when due."""
        row, view = candidate.execution, candidate.view
        is_alone = view is not None and all(each.id == row.id for each in view.rows)
        is_ours = row.snapshot.job in self._wanted.jobs and candidate.stopped_by is None
        if view is not None and is_alone and is_ours:
            self._plan(view.schedule, row)

    def _plan(self, schedule: Schedule, row: Execution) -> None:
        try:
            start = find_plain_start(schedule, row, PlanningTime(row.due_at, self._engine.tzdata))
        except Exception:  # noqa: BLE001 - an error of a grid is reported when the slot is due
            return
        if start is not None and start.creates:
            marked = start._replace(creates=self._engine.mark_scheduled(start.creates))
            now = self._engine.time.now()
            ids = tuple([new_id(now) for _ in marked.creates])
            self._planned[row.id] = _Planned(marked, ids)


def _urgency(start: PlainStart) -> tuple[int, datetime]:
    return start.row.snapshot.priority, start.row.due_at
