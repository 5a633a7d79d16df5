"""The baseline of a drill: the store before the damage, to compare the store with afterwards."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import islice
from socket import gethostname

from sempre.cli.context import CommandContext
from sempre.cli.drill.verdict import Evidence, Observation, Verdict, judge, why_unjudged
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.engine.tickets import SCHEDULER_QUEUE
from sempre.errors import BrokenGrid, UnknownGrid
from sempre.ports.messages import ExecutionQuery, Session

__all__ = ["OTHER", "Baseline"]

OTHER = "(one-off work)"
PAGE = 500
# A backlog older than this at the start of the drill is not part of the verdict.
BACKLOG = timedelta(hours=1)
# The most rows that are waiting or running at the start and followed one by one.
MOST = 10_000


class Baseline:
    """The state of a store when a drill began.

    Attributes:
        began: when the drill began, by the store's clock.
        sessions: the sessions that held their lease.
        schedules: all schedules, by id.
        under_way: the executions that were waiting or running, by id.
    """

    def __init__(self, context: CommandContext) -> None:
        """Read the sessions, schedules and open executions of the store."""
        self._context = context
        self.sessions = context.live_sessions()
        self.began = context.now
        self.schedules = {each.id: each for each in context.app.schedules}
        states = LIVE | {State.RUNNING}
        rows = context.executions(ExecutionQuery(states=states, until=self.began, limit=PAGE))
        self.under_way = {row.id: row for row in islice(rows, MOST)}

    @property
    def lanes(self) -> list[str]:
        """The broker's lanes of this store, for all queues that rows and workers name."""
        queues = {SCHEDULER_QUEUE, "default"}
        queues |= {queue for session in self.sessions for queue in session.queues}
        queues |= {each.definition.queue for each in self.schedules.values()}
        queues |= {row.snapshot.queue for row in self.under_way.values()}
        return [self._context.app.engine.bell.lane(queue) for queue in sorted(queues)]

    def runs_of(self, session: Session) -> int:
        """Return the number of executions that a worker was running."""
        return sum(row.session == session.id for row in self.under_way.values())

    def replaced(self) -> list[Session]:
        """Return the sessions on this host that began after the drill, oldest first."""
        sessions, host = self._context.read(self._context.store.sessions()), gethostname()
        ages = {each.id: each.started_at or self.began for each in sessions if each.host == host}
        young = [each for each in sessions if ages.get(each.id, self.began) > self.began]
        return sorted(young, key=lambda each: ages[each.id])

    def verdicts(self, until: datetime) -> list[Verdict]:
        """Return the verdict for each schedule, over the slots up to a past instant."""
        # Schedules before rows, as the verdict needs; sessions last, so that each is known.
        after = {each.id: each for each in self._context.app.schedules}
        slots = {each.id: self._slots(each, until) for each in self.schedules.values()}
        rows = self._rows(until)
        alive = frozenset(each.id for each in self._context.live_sessions())
        observed = Observation(self.began, self._context.now, alive)
        found = []
        for schedule in self.schedules.values():
            reason = why_unjudged(schedule, after.get(schedule.id), self.began)
            expected = slots[schedule.id]
            if reason or expected is None:
                reason = reason or "the grid is known to its workers only"
                found.append(Verdict(schedule.name, unjudged=reason))
            else:
                seen = self._evidence(after[schedule.id], expected, rows.get(schedule.id, []))
                found.append(judge(seen, observed))
        others = [row for key in rows.keys() - self.schedules.keys() for row in rows[key]]
        if others:
            found.append(
                judge(Evidence(name=OTHER, rows=others, under_way=self.under_way), observed)
            )
        return found

    def _slots(self, schedule: Schedule, until: datetime) -> list[datetime] | None:
        """Return the slots that had to be decided; None if this process cannot use the grid."""
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
        """Return the rows of slots, and the present state of open executions, by schedule."""
        since = min(map(self._start, self.schedules.values()), default=self.began)
        kinds = frozenset({Kind.SCHEDULED})
        query = ExecutionQuery(kinds=kinds, since=since, until=until, limit=PAGE)
        rows = {row.id: row for row in self._context.executions(query)}
        ids = list(self.under_way)
        for start in range(0, len(ids), PAGE):
            found = self._context.read(self._context.store.candidates(ids[start : start + PAGE]))
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
        ranges = (
            self._context.read(self._context.store.ranges(schedule.id, limit=PAGE)) if bare else []
        )
        return Evidence(
            name=schedule.name,
            schedule=schedule,
            slots=slots,
            rows=rows,
            ranges=ranges,
            under_way=self.under_way,
        )
