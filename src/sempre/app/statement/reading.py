"""The records of a schedule in a month, read from a store in parts.

Counts of purged executions are read before executions: an execution that is purged in between is
then without a record, and shown as unexplained. It is never counted twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from sempre.domain.action import Action
from sempre.domain.definition_history import changes_by, definitions_in_force
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.plan import TICK
from sempre.domain.redaction import redacted_text
from sempre.domain.schedule import Schedule
from sempre.domain.statement.account import Change
from sempre.domain.statement.daily_totals import DailyTotals, DayTotal
from sempre.domain.statement.period import Period
from sempre.domain.statement.walk import Records
from sempre.engine.core import Engine
from sempre.ports.messages import ActionQuery, ExecutionQuery, Rollup
from sempre.ports.pages import walk_pages

__all__ = ["Reader", "Rename"]

PAGE = 1000
RANGES = 500
# Runs before the month for which an execution of the month may have waited.
BEFORE = 20


class Rename(NamedTuple):
    """An entry of the log: a schedule got another name."""

    at: datetime
    before: str
    after: str


class Reader:
    """Reads the records of schedules in one month."""

    def __init__(self, engine: Engine, period: Period) -> None:
        """Read the store of an engine."""
        self._engine, self._period = engine, period
        self._renames: list[Rename] | None = None

    def records(self, schedule: Schedule, changes: Iterable[Action]) -> Records:
        """Return the records of a schedule; its executions are read while they are used."""
        log_from = self._engine.present() - self._engine.settings.action_retention
        store = self._engine.store
        found = self._engine.read(store.rollups(schedule.id))
        totals = [_total(each) for each in found]
        return Records(
            schedule=schedule,
            definitions=definitions_in_force(schedule, changes, known_since=log_from),
            rows=self._rows(schedule, self._period.start, self._period.end - TICK),
            ranges=self._ranges(schedule),
            totals=DailyTotals(totals, self._period),
            before=self._before(schedule),
        )

    def _rows(
        self, schedule: Schedule, start: datetime, last: datetime
    ) -> Iterator[Sequence[Execution]]:
        """Yield executions by slot, oldest first: a period with too many for a page is halved."""
        query = ExecutionQuery(schedule_id=schedule.id, since=start, until=last, limit=PAGE)
        page = self._engine.read(self._engine.store.executions(query))
        if not page.after:
            yield page.items[::-1]
        elif last - start <= TICK:
            yield [*self._executions(query)][::-1]
        else:
            middle = start + (last - start) // 2
            yield from self._rows(schedule, start, middle)
            yield from self._rows(schedule, middle + TICK, last)

    def _executions(self, query: ExecutionQuery) -> Iterator[Execution]:
        read, executions = self._engine.read, self._engine.store.executions
        return walk_pages(lambda after: read(executions(replace(query, after=after))))

    def _before(self, schedule: Schedule) -> Sequence[Execution]:
        if schedule.definition.overlap != "wait":
            return ()
        until = self._period.start - TICK
        query = ExecutionQuery(schedule_id=schedule.id, until=until, limit=BEFORE)
        return self._engine.read(self._engine.store.executions(query)).items

    def _ranges(self, schedule: Schedule) -> list[SlotRange]:
        """Return the ranges that touch the month, in order."""
        found: list[SlotRange] = []
        before = self._period.end
        while True:
            asked = self._engine.store.ranges(schedule.id, limit=RANGES, before=before)
            page = self._engine.read(asked)
            found += [each for each in page if each.last >= self._period.start]
            if len(page) < RANGES or page[-1].last < self._period.start:
                return found[::-1]
            before = page[-1].first

    # The log of actions

    def actions(self, schedule: Schedule) -> list[Action]:
        """Return the logged changes of a schedule since the month began, under all its names."""
        found: list[Action] = []
        name, until = schedule.name, None
        while True:
            renamed = self._renamed(name, until)
            since = renamed.at if renamed else self._period.start
            found += [each for each in self._of_name(name, since, until) if _is_change(each)]
            if renamed is None:
                return found
            name, until = renamed.before, renamed.at

    def _renamed(self, name: str, until: datetime | None) -> Rename | None:
        """Return the last rename to a name, up to an instant."""
        if self._renames is None:
            self._renames = [each for each in map(_rename, self.log(verb="rename")) if each]
        fitting = (each for each in self._renames if each.after == name)
        return next((each for each in fitting if until is None or each.at < until), None)

    def _of_name(self, name: str, since: datetime, until: datetime | None) -> Iterator[Action]:
        query = ActionQuery(target=f"schedule:{name}", since=since, until=until, limit=RANGES)
        return self._actions(query)

    def log(self, *, verb: str) -> Iterator[Action]:
        """Yield the actions of a verb since the month began, newest first."""
        return self._actions(ActionQuery(verb=verb, since=self._period.start, limit=RANGES))

    def _actions(self, query: ActionQuery) -> Iterator[Action]:
        read, actions = self._engine.read, self._engine.store.actions
        return walk_pages(lambda after: read(actions(replace(query, after=after))))

    def changes_in_month(self, actions: Iterable[Action]) -> tuple[Change, ...]:
        """Return the changes within the month, oldest first."""
        dated = ((each.at, each) for each in actions if each.at is not None)
        within = [(at, each) for at, each in dated if self._period.holds(at)]
        within.sort(key=lambda each: each[1].id)
        patterns = self._engine.settings.redact
        return tuple(
            Change(at, each.verb, each.actor, redacted_text(each.note, patterns), _names(each))
            for at, each in within
        )


def _is_change(action: Action) -> bool:
    """Whether an action created or changed the schedule itself, and not only its executions."""
    return action.verb == "create" or bool(changes_by(action))


def _names(action: Action) -> tuple[str, ...]:
    sides = (each for each in (action.before, action.after) if isinstance(each, dict))
    return tuple(sorted({name for side in sides for name in side}))


def _total(rollup: Rollup) -> DayTotal:
    return date.fromisoformat(rollup.day), rollup.state, rollup.kind, rollup.count


def _rename(action: Action) -> Rename | None:
    match action.at, action.before, action.after:
        case datetime() as at, {"name": str(before)}, {"name": str(after)}:
            return Rename(at, before, after)
        case _:
            return None
