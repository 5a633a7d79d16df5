"""The search for schedules of a store by tag, job and a text in the name."""

from collections.abc import Iterator
from dataclasses import replace

from sempre.domain.schedule import Schedule
from sempre.engine.core import Engine
from sempre.ports.messages import ScheduleQuery
from sempre.ports.pages import walk_pages

__all__ = ["find_schedules"]

PAGE = 500


def find_schedules(
    engine: Engine, *, tag: str | None = None, job: str | None = None, text: str = ""
) -> Iterator[Schedule]:
    """Return an iterator of the schedules that match, by name, read a page at a time."""
    query = ScheduleQuery(tag=tag, job=job, text=text, limit=PAGE)
    return walk_pages(
        lambda after: engine.read(engine.store.schedules(replace(query, after=after)))
    )
