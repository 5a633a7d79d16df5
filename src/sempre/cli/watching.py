"""Watching over a drill: what was there before the harm, and what has become of it since."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from socket import gethostname

from sempre.cli.desk import Desk
from sempre.cli.judging import Account, Evidence, Look, judge, why_unjudged
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.engine.tickets import SCHEDULER_QUEUE
from sempre.errors import BrokenGrid, UnknownGrid
from sempre.ports.messages import ExecutionQuery, Reading, Session

__all__ = ["OTHER", "Watch"]

OTHER = "(one-off work)"
PAGE = 500
# Of what was already behind when the drill began, so much is looked at.
BACKLOG = timedelta(hours=1)
# Rows that wait or run at the beginning; what is beyond them is not followed one by one.
MOST = 10_000


class Watch:
    """A store as it was when a drill began, to which it is compared.

    Attributes:
        began: by the store's clock.
        sessions: those that held their lease then.
        schedules: by id.
        under_way: by id, what was waiting for its slot or running.
    """

    def __init__(self, desk: Desk) -> None:
        """Read everything that is there."""
        self._desk = desk
        reading = desk.store.sessions()
        self.began = reading.now
        self.sessions = _alive(desk, reading)
        self.schedules = {each.id: each for each in desk.app.schedules}
        states = LIVE | {State.RUNNING}
        rows = _rows(desk, ExecutionQuery(states=states, until=self.began, limit=PAGE))
        self.under_way = {row.id: row for row in islice(rows, MOST)}

    @property
    def lanes(self) -> list[str]:
        """The broker's lanes of this store, as far as anything tells of its queues."""
        queues = {SCHEDULER_QUEUE, "default"}
        queues |= {queue for session in self.sessions for queue in session.queues}
        queues |= {each.definition.queue for each in self.schedules.values()}
        queues |= {row.snapshot.queue for row in self.under_way.values()}
        return [self._desk.app.engine.bell.lane(queue) for queue in sorted(queues)]

    def runs_of(self, session: Session) -> int:
        """Return how many executions a worker had."""
        return sum(row.session == session.id for row in self.under_way.values())

    def replaced(self) -> list[Session]:
        """Return the sessions on this host that are younger than the drill, the oldest first."""
        sessions, host = self._desk.read(self._desk.store.sessions()), gethostname()
        ages = {each.id: each.started_at or self.began for each in sessions if each.host == host}
        young = [each for each in sessions if ages.get(each.id, self.began) > self.began]
        return sorted(young, key=lambda each: ages[each.id])

    def accounts(self, until: datetime) -> list[Account]:
        """Tell what has become of everything that was due up to an instant that has passed."""
        # Schedules before rows, as the judgement wants it; sessions last, so that all are known.
        after = {each.id: each for each in self._desk.app.schedules}
        slots = {each.id: self._slots(each, until) for each in self.schedules.values()}
        rows = self._rows(until)
        sessions = self._desk.store.sessions()
        alive = frozenset(each.id for each in _alive(self._desk, sessions))
        look = Look(self.began, sessions.now, alive)
        found = []
        for schedule in self.schedules.values():
            reason = why_unjudged(schedule, after.get(schedule.id), self.began)
            expected = slots[schedule.id]
            if reason or expected is None:
                reason = reason or "only its workers know its grid"
                found.append(Account(schedule.name, unjudged=reason))
            else:
                seen = self._evidence(after[schedule.id], expected, rows.get(schedule.id, []))
                found.append(judge(seen, look))
        others = [row for key in rows.keys() - self.schedules.keys() for row in rows[key]]
        if others:
            found.append(judge(Evidence(name=OTHER, rows=others, under_way=self.under_way), look))
        return found

    def _slots(self, schedule: Schedule, until: datetime) -> list[datetime] | None:
        """Return the slots that had to be decided; None if nobody here can tell."""
        last = schedule.definition.until
        try:
            end = until if last is None else min(until, last)
            return schedule.definition.grid.between(self._start(schedule), end)
        except (UnknownGrid, BrokenGrid):
            return None

    def _start(self, schedule: Schedule) -> datetime:
        if schedule.definition.grid.relative:
            return schedule.cursor
        upcoming = schedule.next_run_at
        if upcoming is None or upcoming > self.began:
            return self.began
        return max(schedule.cursor, self.began - BACKLOG)

    def _rows(self, until: datetime) -> dict[str | None, list[Execution]]:
        """Return the rows of slots, and what was under way as it is now, by schedule."""
        since = min(map(self._start, self.schedules.values()), default=self.began)
        kinds = frozenset({Kind.SCHEDULED})
        query = ExecutionQuery(kinds=kinds, since=since, until=until, limit=PAGE)
        rows = {row.id: row for row in _rows(self._desk, query)}
        ids = list(self.under_way)
        for start in range(0, len(ids), PAGE):
            found = self._desk.read(self._desk.store.candidates(ids[start : start + PAGE]))
            rows |= {each.execution.id: each.execution for each in found}
        by_schedule = defaultdict[str | None, list[Execution]](list)
        for row in rows.values():
            if row.id in self.under_way or row.schedule_id in self.schedules:
                by_schedule[row.schedule_id].append(row)
        return by_schedule

    def _evidence(
        self, schedule: Schedule, slots: list[datetime], rows: list[Execution]
    ) -> Evidence:
        taken = {row.run_at for row in rows if row.occupies_slot}
        bare = any(slot not in taken for slot in slots)
        ranges = self._desk.read(self._desk.store.ranges(schedule.id, limit=PAGE)) if bare else []
        return Evidence(
            name=schedule.name,
            schedule=schedule,
            slots=slots,
            rows=rows,
            ranges=ranges,
            under_way=self.under_way,
        )


def _alive(desk: Desk, reading: Reading[list[Session]]) -> list[Session]:
    sessions = desk.read(reading)
    return [each for each in sessions if each.leased_until and each.leased_until > reading.now]


def _rows(desk: Desk, query: ExecutionQuery) -> Iterator[Execution]:
    while True:
        page = desk.read(desk.store.executions(query))
        yield from page.items
        if not page.after:
            return
        query = ExecutionQuery(**{**vars(query), "after": page.after})
