"""The page of the log of actions: who changed what, from what, to what, and why."""

from sempre.app.presentation.actions import change_text
from sempre.domain.action import Action
from sempre.ports.messages import ActionQuery, Page
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["find_actions", "log_page"]

PAGE = 50


def find_actions(visit: Visit, *, limit: int = PAGE) -> Page[Action]:
    """Return a page of the actions that the query of the URL asks for."""
    query = ActionQuery(
        target=visit.asked("target") or None,
        verb=visit.asked("verb") or None,
        actor=visit.asked("actor") or None,
        since=visit.point("since"),
        limit=limit,
        after=visit.asked("after"),
    )
    return visit.reader.read(visit.store.actions(query))


def log_page(visit: Visit) -> PageAnswer:
    """Return the page of the log of actions."""
    page = find_actions(visit)
    values = {
        "page": page,
        "changes": {each.id: change_text(each, visit) for each in page.items},
        "filters": {name: visit.asked(name) for name in ("target", "verb", "actor", "since")},
    }
    return PageAnswer("log.html", "Log of actions", values, topics=("log",))
