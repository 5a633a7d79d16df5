"""The page of all executions: filtered by its URL, newest slot first, paged by key."""

from dataclasses import dataclass

from sempre.domain.execution import Execution
from sempre.domain.states import LIVE, Kind, State
from sempre.ports.messages import ExecutionQuery, Page
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["ExecutionFilters", "executions_page", "find_executions"]

PAGE = 50
PERIODS = ("1h", "6h", "24h", "7d")


@dataclass(frozen=True)
class ExecutionFilters:
    """The filters of the page, as its URL has them."""

    schedule: str = ""
    job: str = ""
    state: str = ""
    kind: str = ""
    since: str = ""
    until: str = ""

    @classmethod
    def of(cls, visit: Visit) -> "ExecutionFilters":
        """Return the filters of a visit; unknown words are no filter."""
        return cls(
            visit.asked("schedule"),
            visit.asked("job"),
            visit.choice("state", [str(each) for each in State]),
            visit.choice("kind", [str(each) for each in Kind]),
            visit.asked("since"),
            visit.asked("until"),
        )


def find_executions(visit: Visit, *, limit: int = PAGE) -> Page[Execution]:
    """Return a page of the executions that the query of the URL asks for.

    Raises:
        NotFound: there is no schedule of the name; with the nearest name.
    """
    filters = ExecutionFilters.of(visit)
    states = frozenset({State(filters.state)} if filters.state else ())
    until = visit.point("until")
    if until is None and not states & LIVE:
        # The future is apart, unless it is asked for.
        until = visit.reader.engine.present()
    query = ExecutionQuery(
        schedule_id=_schedule_id(visit, filters.schedule),
        job=filters.job or None,
        states=states,
        kinds=frozenset({Kind(filters.kind)} if filters.kind else ()),
        since=visit.point("since"),
        until=until,
        limit=limit,
        after=visit.asked("after"),
    )
    return visit.reader.read(visit.store.executions(query))


def executions_page(visit: Visit) -> PageAnswer:
    """Return the page of all executions."""
    values = {
        "page": find_executions(visit),
        "filters": ExecutionFilters.of(visit),
        "states": [str(each) for each in State],
        "kinds": [str(each) for each in Kind],
        "periods": PERIODS,
    }
    return PageAnswer("executions.html", "Executions", values, topics=("runs",))


def _schedule_id(visit: Visit, name: str) -> str | None:
    if not name:
        return None
    return visit.operator.schedule(name).row.id
