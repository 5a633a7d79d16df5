"""Waiting executions that the broker has to announce; the cost is independent of ended ones."""

import json
from datetime import timedelta
from typing import NamedTuple, get_args

from sempre.domain.states import State
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Page, Waiting
from sempre.stores.columns import STATES
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import Lane, json_text, lane, queue_of

__all__ = ["unannounced", "waiting", "waiting_lanes"]

EARLIEST = -(2**62)


class _Place(NamedTuple):
    """The end of a page; pages are ordered by priority, lane, instant and id."""

    priority: int = -1
    lane: str = ""
    at: int = EARLIEST
    id: str = ""


def unannounced(transaction: Transaction, horizon: timedelta, limit: int) -> list[Waiting]:
    """Return pending rows that are due within the horizon, earliest first."""
    until = microseconds_of(transaction.now + horizon)
    return [
        Waiting(identity, instant_of(due_at), queue, priority, attempt, State.PENDING)
        for identity, due_at, queue, priority, attempt in transaction.rows(
            "rows_unannounced", until=until, limit=limit
        )
    ]


def waiting(
    transaction: Transaction,
    queues: frozenset[str] | None,
    horizon: timedelta,
    after: str,
    limit: int,
) -> Page[Waiting]:
    """Return a page of rows that wait in these queues, are due within the horizon and not held."""
    until = microseconds_of(transaction.now + horizon)
    last = _Place(*json.loads(after)) if after else _Place()
    found: list[Waiting] = []
    for priority, name in waiting_lanes(transaction, queues):
        start = max(last, _Place(priority, name))
        if start[:2] != (priority, name):
            continue
        asked = start._asdict() | {"until": until, "limit": limit - len(found)}
        rows = transaction.rows("waiting_rows", **asked)
        queue = queue_of(name)
        found += [
            Waiting(identity, instant_of(due_at), queue, priority, attempt, STATES[state])
            for identity, due_at, attempt, state in rows
        ]
        if len(found) >= limit:
            at, identity = rows[-1][1], rows[-1][0]
            return Page(tuple(found), json_text(_Place(priority, name, at, identity)))
    return Page(tuple(found))


def waiting_lanes(transaction: Transaction, queues: frozenset[str] | None) -> list[tuple[int, str]]:
    """Return the priorities and lanes of rows that wait in these queues, or in all."""
    known = transaction.rows("waiting_lanes", lanes=_lanes(transaction, queues))
    return sorted((row[1], row[0]) for row in known)


def _lanes(transaction: Transaction, queues: frozenset[str] | None) -> list[str]:
    """Return the lanes of these queues, or all lanes with waiting rows: one probe each."""
    if queues is not None:
        return sorted(lane(queue, which) for queue in queues for which in get_args(Lane))
    found: list[str] = []
    while name := transaction.rows("lane_after", lane=found[-1] if found else "")[0][0]:
        found.append(name)
    return found
