"""The page of all schedules: searched, filtered and sorted by its URL, paged by key."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from sempre.app.presentation.schedules import LIGHTS, Summary, summaries_of
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Page, ScheduleQuery
from sempre.ports.pages import walk_pages
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["SchedulesFound", "find_schedules", "schedules_page"]

PAGE, AT_ONCE = 50, 500
MOST_SCANNED = 200
"""Schedules that are examined for one page with a filter by state."""
MOST_SORTED = 1_000
"""Schedules that can be sorted by another order than the name, which alone has an index."""
NEVER = datetime.max.replace(tzinfo=UTC)
SORTS = ("name", "next", "last")


@dataclass(frozen=True)
class SchedulesFound:
    """A page of schedules.

    Attributes:
        after: where the next page begins; empty at the end.
        note: what a person should know about the list; empty for nothing.
    """

    summaries: list[Summary]
    after: str = ""
    note: str = ""


def find_schedules(visit: Visit, *, limit: int = PAGE) -> SchedulesFound:
    """Return the schedules that the query of the URL asks for."""
    state = visit.choice("state", tuple(LIGHTS))
    sort = visit.choice("sort", SORTS, "name")
    after = visit.asked("after")
    if sort != "name":
        return _sorted(visit, state, sort, limit)
    if state:
        return _in_state(visit, state, after, limit)
    page = visit.reader.read(visit.store.schedules(_query(visit, after, limit)))
    return SchedulesFound(list(summaries_of(visit.reader, page.items)), page.after)


def schedules_page(visit: Visit) -> PageAnswer:
    """Return the page of all schedules."""
    found = find_schedules(visit)
    values = {
        "found": found,
        "filters": {name: visit.asked(name) for name in ("q", "state", "tag", "job", "sort")},
        "states": list(LIGHTS),
        "sorts": SORTS,
        "tags": sorted({tag for each in found.summaries for tag in each.schedule.definition.tags}),
    }
    return PageAnswer("schedules.html", "Schedules", values, topics=("runs", "schedules"))


def _query(visit: Visit, after: str, limit: int) -> ScheduleQuery:
    return ScheduleQuery(
        text=visit.asked("q"),
        tag=visit.asked("tag") or None,
        job=visit.asked("job") or None,
        limit=limit,
        after=after,
    )


def _in_state(visit: Visit, state: str, after: str, limit: int) -> SchedulesFound:
    """Examine schedules by name until a page is full; the state of a schedule has no index."""
    found: list[Summary] = []
    scanned = 0
    while len(found) < limit and scanned < MOST_SCANNED:
        page = visit.reader.read(visit.store.schedules(_query(visit, after, limit)))
        scanned += len(page.items)
        found += [each for each in summaries_of(visit.reader, page.items) if each.state == state]
        after = page.after
        if not after:
            return SchedulesFound(found)
    is_full = len(found) >= limit
    note = "" if is_full else f"{scanned:,} schedules were examined; the next page goes on."
    return SchedulesFound(found, after, note)


def _sorted(visit: Visit, state: str, sort: str, limit: int) -> SchedulesFound:
    rows = list(islice(_all(visit), MOST_SORTED + 1))
    note = ""
    if len(rows) > MOST_SORTED:
        note = f"The first {MOST_SORTED:,} schedules by name are sorted; a search narrows them."
    if sort == "next" and not state:
        rows.sort(key=lambda each: (each.next_run_at or NEVER, each.name))
        return SchedulesFound(list(summaries_of(visit.reader, rows[:limit])), note=note)
    found = [each for each in summaries_of(visit.reader, rows) if not state or each.state == state]
    found.sort(key=_last if sort == "last" else _next)
    return SchedulesFound(found[:limit], note=note)


def _all(visit: Visit) -> Iterator[Schedule]:
    def page_after(place: str) -> Page[Schedule]:
        return visit.reader.read(visit.store.schedules(_query(visit, place, AT_ONCE)))

    return walk_pages(page_after)


def _next(each: Summary) -> tuple[datetime, str]:
    return each.schedule.next_run_at or NEVER, each.schedule.name


def _last(each: Summary) -> tuple[float, str]:
    at = each.last and (each.last.finished_at or each.last.started_at)
    return -(at.timestamp() if at else 0.0), each.schedule.name
