"""Executions of a store: listed by state, time, job, tag and schedule, and operated in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from sempre.app.executions.bulk_verbs import Answer, cancel_all, discard_all, retry_all
from sempre.app.options import Duration
from sempre.app.schedules.search import find_schedules
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.engine.core import Engine
from sempre.errors import NotFound, PolicyError, nearest
from sempre.grids.relative_instants import read_point
from sempre.ports.messages import ExecutionQuery, Page
from sempre.ports.pages import walk_pages

__all__ = ["Executions", "Filters", "past_rows", "states_of"]

PAGE = 500
WITHOUT_ROW = frozenset({State.MISSED, State.SKIPPED, State.SUPERSEDED})
"""The states of slots that may have passed without an execution."""


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which executions are wanted; an empty filter takes every execution.

    Attributes:
        since: slots from an instant, or from a length of time ago, such as "1h".
        until: slots up to an instant, or up to a length of time ago.
    """

    states: frozenset[State] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    schedule: str | None = None
    job: str | None = None
    tag: str | None = None
    since: datetime | str | Duration | None = None
    until: datetime | str | Duration | None = None


class Executions:
    """Executions of the store, newest slot first: iterate, or act on all of them.

    Nothing is read before the first execution is asked for, and each iteration reads anew.
    """

    def __init__(self, engine: Engine, filters: Filters, *, actor: str = "") -> None:
        """Choose executions by filters."""
        self._engine = engine
        self._filters = filters
        self._actor = actor

    def __repr__(self) -> str:
        """Show the filters; the store is not read."""
        given = {name: value for name, value in vars(self._filters).items() if value}
        return f"<Executions {given or 'all'}>"

    def __iter__(self) -> Iterator[Execution]:
        """Yield the executions, a page at a time."""
        tagged = self._tagged_schedules()
        for row in _pages(self._engine, self._query()):
            if self._filters.tag is None or self._has_tag(row, tagged):
                yield row

    def first(self, count: int) -> list[Execution]:
        """Return at most `count` executions."""
        return list(islice(self, count))

    def ranges(self, count: int = 100) -> list[SlotRange]:
        """Return ranges of slots in these states that passed without an execution, newest first.

        One query is made for each schedule that the filters leave.
        """
        filters, query = self._filters, self._query()
        states = filters.states or WITHOUT_ROW
        if not states & WITHOUT_ROW or (filters.kinds and Kind.SCHEDULED not in filters.kinds):
            return []
        found = [
            each
            for schedule in self._schedules()
            for each in self._engine.read(self._engine.store.ranges(schedule.id, limit=count))
            if each.state in states and _is_within(each, query)
        ]
        return sorted(found, key=lambda each: each.last, reverse=True)[:count]

    # Verbs

    def retry(self, *, why: str = "") -> Iterator[Answer]:
        """Retry each execution that may be retried; yield an answer for each, as it happens."""
        return retry_all(self._engine, self._ids(), actor=self._actor, why=why)

    def discard(self, *, why: str = "") -> Iterator[Answer]:
        """Take failed executions off the list of failures; yield an answer for each."""
        return discard_all(self._engine, self._ids(), actor=self._actor, why=why)

    def cancel(self, *, why: str = "") -> Iterator[Answer]:
        """Cancel executions that wait, and ask running ones to end; yield an answer for each."""
        return cancel_all(self._engine, self._ids(), actor=self._actor, why=why)

    # How

    def _ids(self) -> list[str]:
        """Return the ids; a verb may change what the filters choose, so all are read first."""
        return [row.id for row in self]

    def _query(self) -> ExecutionQuery:
        filters = self._filters
        return ExecutionQuery(
            schedule_id=None if filters.schedule is None else self._named(filters.schedule).id,
            job=filters.job,
            states=filters.states,
            kinds=filters.kinds,
            since=self._point("since", filters.since),
            until=self._point("until", filters.until),
            limit=PAGE,
        )

    def _named(self, name: str) -> Schedule:
        view = self._engine.read_one(self._engine.store.views([name]))
        if view is None:
            raise NotFound("schedule", name)
        return view.schedule

    def _point(self, field: str, given: datetime | str | Duration | None) -> datetime | None:
        if given is None:
            return None
        zone = self._engine.settings.timezone
        return read_point(field, given, now=self._engine.present, ago=True, timezone=zone)

    def _schedules(self) -> Iterable[Schedule]:
        filters = self._filters
        if filters.schedule is not None:
            return [self._named(filters.schedule)]
        return find_schedules(self._engine, job=filters.job, tag=filters.tag)

    def _tagged_schedules(self) -> frozenset[str]:
        tag = self._filters.tag
        found = () if tag is None else find_schedules(self._engine, tag=tag)
        return frozenset(each.id for each in found)

    def _has_tag(self, row: Execution, tagged: frozenset[str]) -> bool:
        """Return whether an execution has the tag: one-off work itself, a slot by its schedule."""
        return self._filters.tag in row.snapshot.tags or row.schedule_id in tagged


def past_rows(engine: Engine, schedule_id: str, since: datetime) -> list[Execution]:
    """Return the executions of a schedule from an instant on, which its view leaves out.

    Raises:
        UnreadableRow: this process cannot read a row, so its slot might run twice.
    """
    query = ExecutionQuery(schedule_id=schedule_id, since=since, limit=PAGE)
    return list(_pages(engine, query, refuse_unreadable=True))


def _pages(
    engine: Engine, query: ExecutionQuery, *, refuse_unreadable: bool = False
) -> Iterator[Execution]:
    def page_after(place: str) -> Page[Execution]:
        reading = engine.store.executions(replace(query, after=place))
        page = engine.read(reading)
        if reading.unreadable and refuse_unreadable:
            raise reading.unreadable[0].error
        return page

    return walk_pages(page_after)


def _is_within(found: SlotRange, query: ExecutionQuery) -> bool:
    begins = query.until is None or found.first <= query.until
    return begins and (query.since is None or found.last >= query.since)


def states_of(given: str | State | Sequence[str | State] | None) -> frozenset[State]:
    """Return the states that a user named: one word or several; none for every state."""
    words = [given] if isinstance(given, str) else list(given or ())
    known = [state.value for state in State]
    for word in words:
        if word not in known:
            raise PolicyError("state", word, allowed=", ".join(known), hint=nearest(word, known))
    return frozenset(map(State, words))
