"""Records for explanations in few words: one schedule, rows of one day, entries of the log."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from sempre.domain.action import Action
from sempre.domain.definition import define
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.explanation import Explanation, Records
from sempre.domain.explanation.wording import Speech, sentence_of, verdict_sentence
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.grids import Every, Grid
from tests.unit.domain.builders import at

__all__ = [
    "TENS",
    "Attempt",
    "Worker",
    "act",
    "attempt",
    "records",
    "row",
    "said",
    "schedule",
    "span",
]

TENS = Every("10m")
_numbers = count(1)


@dataclass(frozen=True)
class Attempt:
    """An attempt as a store keeps it."""

    session: str
    started_at: datetime
    finished_at: datetime
    state: State
    error: str = ""
    late: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Worker:
    """A session as a store keeps it."""

    id: str
    started_at: datetime | None
    queues: tuple[str, ...] = ("default",)


def schedule(grid: Grid = TENS, **fields: Any) -> Schedule:  # noqa: ANN401 - fields of a schedule
    """Return a schedule that was created at 06:00 and decided up to 12:00."""
    names = ("until", "limit", "enabled", "tags", "retry", "jitter")
    policies = {name: fields.pop(name) for name in names if name in fields}
    known: dict[str, Any] = {
        "id": "s1",
        "name": "bill",
        "definition": define(job="bill", grid=grid, **policies),
        "created_at": at("06:00"),
        "cursor": at("12:00"),
        "started": True,
    }
    return Schedule(**(known | fields))


def row(slot: str | datetime, state: str = "succeeded", **fields: Any) -> Execution:  # noqa: ANN401 - fields of an execution
    """Return an execution of a slot, due then, that was created ten minutes before."""
    run_at = at(slot) if isinstance(slot, str) else slot
    rules = {name: fields.pop(name) for name in list(fields) if name in Snapshot.__annotations__}
    known: dict[str, Any] = {
        "id": f"e{next(_numbers)}",
        "kind": Kind.SCHEDULED,
        "run_at": run_at,
        "due_at": run_at,
        "created_at": run_at - timedelta(minutes=10),
        "schedule_id": "s1",
    }
    known_rules: dict[str, Any] = {"name": "bill", "job": "bill", "grid": TENS}
    snapshot = Snapshot(**(known_rules | rules))
    for name, value in fields.items():
        if isinstance(value, str) and name.endswith("_at"):
            fields[name] = at(value)
    return Execution(**(known | {"state": State(state), "snapshot": snapshot} | fields))


def attempt(begin: str, end: str, state: str = "succeeded", **fields: Any) -> Attempt:  # noqa: ANN401 - fields of an attempt
    """Return an attempt of the session w1."""
    return Attempt("w1", at(begin), at(end), State(state), **fields)


def act(clock: str, verb: str, target: str = "schedule:bill", **fields: Any) -> Action:  # noqa: ANN401 - fields of an action
    """Return an entry of the log, by ann."""
    number = f"{at(clock).isoformat()}-{next(_numbers):04}"
    known: dict[str, Any] = {"id": number, "actor": "ann", "at": at(clock)}
    return Action(verb=verb, target=target, **(known | fields))


def span(first: str, last: str, count: int, reason: str) -> SlotRange:
    """Return a range of slots without a row."""
    return SlotRange(schedule_id="s1", first=at(first), last=at(last), count=count, reason=reason)


def records(slot: str | datetime | tuple[datetime, ...], **fields: Any) -> Records:  # noqa: ANN401 - fields of the records
    """Return records about a slot, asked at 12:00."""
    asked = slot if isinstance(slot, tuple) else (at(slot) if isinstance(slot, str) else slot,)
    known: dict[str, Any] = {"name": "bill", "now": at("12:00"), "schedule": schedule()}
    return Records(**(known | {"asked": asked} | fields))


def said(explanation: Explanation, *, now: datetime | None = None) -> str:
    """Return the whole answer as one text."""
    speech = Speech(explanation.zone, now or at("12:00"))
    causes = [sentence_of(cause, speech) for cause in explanation.causes]
    return "\n".join([verdict_sentence(explanation, speech), *causes])
