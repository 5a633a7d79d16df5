"""The pages of workers, queues and switches."""

from dataclasses import dataclass
from datetime import timedelta

from sempre.app.presentation.fleet import read_workers
from sempre.domain.switch import Switch
from sempre.ports.messages import ActionQuery
from sempre.web.answers import PageAnswer
from sempre.web.store_health import health_of, queues_of
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
    if not switches:
        return []
    groups = visit.reader.read(visit.store.backlog(late=timedelta(0), limit=COUNTED))
    return [
        SwitchView(each, sum(some.count for some in groups if some.held_by == each.name))
        for each in switches
    ]


def workers_page(visit: Visit) -> PageAnswer:
    """Return the page of workers and queues."""
    queues = queues_of(visit)
    values = {
        "workers": read_workers(visit.reader),
        "queues": queues.value,
        "age": timedelta(seconds=queues.age) if queues.is_old else None,
    }
    return PageAnswer("workers.html", "Workers and queues", values, topics=("workers", "runs"))


def switches_page(visit: Visit) -> PageAnswer:
    """Return the page of switches: those that are off, and how to stop work."""
    health = health_of(visit).value
    sessions = visit.reader.read(visit.store.sessions())
    queues = health.queues.union(*(each.queues for each in sessions))
    jobs = health.jobs.union(*(each.jobs for each in sessions))
    recent = visit.reader.read(visit.store.actions(ActionQuery(verb="switch off", limit=RECENT)))
    values = {
        "switches": read_switches(visit),
        "targets": [
            "all",
            *(f"queue:{each}" for each in sorted(queues)),
            *(f"tag:{each}" for each in sorted(health.tags)),
            *(f"job:{each}" for each in sorted(jobs)),
        ],
        "chosen": visit.asked("target"),
        "recent": recent.items,
    }
    return PageAnswer("switches.html", "Switches", values, topics=("switches",))
