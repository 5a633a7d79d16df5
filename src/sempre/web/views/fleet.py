"""The pages of workers, queues and switches."""

from dataclasses import dataclass
from datetime import timedelta

from sempre.app.presentation.fleet import read_queues, read_workers
from sempre.domain.switch import Switch
from sempre.ports.messages import ActionQuery
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["SwitchView", "read_switches", "switches_page", "workers_page"]

RECENT = 10
COUNTED = 10_000


@dataclass(frozen=True)
class SwitchView:
    """A switch that is off, and the due executions that it holds, counted up to 10,000."""

    switch: Switch
    held: int


def read_switches(visit: Visit) -> list[SwitchView]:
    """Return the switches that are off."""
    switches = visit.reader.read(visit.store.switches())
    found = visit.store.backlog(late=timedelta(0), limit=COUNTED)
    groups = visit.reader.read(found) if switches else []
    return [
        SwitchView(each, sum(some.count for some in groups if some.held_by == each.name))
        for each in switches
    ]


def workers_page(visit: Visit) -> PageAnswer:
    """Return the page of workers and queues."""
    visit.reader.read(visit.store.last_pass())
    workers = read_workers(visit.reader)
    values = {"workers": workers, "queues": read_queues(visit.reader, workers)}
    return PageAnswer("workers.html", "Workers and queues", values, topics=("workers", "runs"))


def switches_page(visit: Visit) -> PageAnswer:
    """Return the page of switches: those that are off, and how to stop work."""
    schedules = list(visit.reader.schedules())
    sessions = visit.reader.read(visit.store.sessions())
    queues = {each.definition.queue for each in schedules}.union(*(s.queues for s in sessions))
    jobs = {each.definition.job for each in schedules}.union(*(s.jobs for s in sessions))
    tags = {tag for each in schedules for tag in each.definition.tags}
    recent = visit.reader.read(visit.store.actions(ActionQuery(verb="switch off", limit=RECENT)))
    values = {
        "switches": read_switches(visit),
        "targets": [
            "all",
            *(f"queue:{each}" for each in sorted(queues)),
            *(f"tag:{each}" for each in sorted(tags)),
            *(f"job:{each}" for each in sorted(jobs)),
        ],
        "chosen": visit.asked("target"),
        "recent": recent.items,
    }
    return PageAnswer("switches.html", "Switches", values, topics=("switches",))
