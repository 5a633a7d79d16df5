"""Indexes: nothing is left in them when it is over, and nobody looks at what nobody asked for."""

from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest
import redis

from sempre.domain.planning import plan_backfill, plan_delete
from sempre.domain.states import Kind, State
from sempre.ports.messages import Rollup, Switch, UniqueKey
from sempre.ports.retention import Purge
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    now_of,
    perform,
    session_of,
    succeed,
    waiting_schedule,
    wanted,
)
from tests.integration.redis.redis_server import RedisServer

DAY = timedelta(days=1)
# What outlives the rows: the store itself, its schedules, and what is left of a purged day.
LASTING = {"meta", "schedule", "rollups", "sessions", "leases", "ranges"}


def test_nothing_is_left_of_what_is_over_and_purged(store: RedisStore, server: RedisServer) -> None:
    session = session_of(store)
    for number in range(3):
        view = due_schedule(store, f"billing-{number}", limit=1)
        succeed(store, claimed(store, view.rows[0].id, session))
    perform(
        store,
        plan_backfill,
        "billing-1",
        start=now_of(store) - 5 * HOUR,
        end=now_of(store),
        retention=DAY,
    )
    store.switch(Switch("stop", "job:mail", "hold"), off=True)
    ids = [enqueued(store, unique=UniqueKey(f"key-{number}")) for number in range(4)]
    store.switch(Switch("stop", "job:mail"), off=False)
    for row in store.claim_one_off(wanted(limit=2), session=session).value:
        store.cancel([row.id])
        succeed(store, row)
    store.cancel(ids)
    for number in range(3):
        perform(store, plan_delete, f"billing-{number}")
    for each in store.due(wanted()).value:
        store.cancel([each.execution.id])

    assert store.purge(Purge(before=now_of(store) + 2 * DAY, limit=1000, keep=0)).count > 0

    with server.client() as client:
        left = {str(each).split(":")[1] for each in client.scan_iter("*")}
        rows = list(client.scan_iter("*:execution:*"))
    assert (left - LASTING, rows) == (set(), [])


def commands(client: redis.Redis) -> int:
    """Return how many commands the server has run so far, those of scripts included."""
    told = cast("dict[str, dict[str, int]]", client.info("commandstats"))
    return sum(each["calls"] for name, each in told.items() if name != "cmdstat_info")


@pytest.mark.parametrize("kind", ["schedules", "one-off", "stopped"])
def test_work_does_not_grow_with_what_waits(
    store: RedisStore, server: RedisServer, kind: str
) -> None:
    """The same questions cost the same number of commands among three rows and among hundreds."""
    session = session_of(store)

    def more(count: int, start: int) -> None:
        for number in range(start, start + count):
            if kind == "schedules":
                waiting_schedule(store, f"waiting-{number}")
            elif kind == "one-off":
                enqueued(store, due_in=HOUR)
            else:
                enqueued(store, job="stopped")

    def spend(number: int) -> int:
        due = due_schedule(store, f"due-{number}", limit=1).rows[0]
        order = claim_order(store, due.id)
        asked = wanted(limit=5, jobs="bill mail stopped")
        calls = (
            lambda: store.due(asked),
            lambda: store.claim([order], session=session),
            lambda: store.claim_one_off(asked, session=session),
            lambda: store.tick(session, asked, lease=LEASE),
            lambda: store.expired(10),
            lambda: store.needing_repair(tzdata="2026.1", limit=10),
            lambda: store.unannounced(horizon=timedelta(0), limit=1),
        )
        with server.client() as client:
            before = commands(client)
            for call in calls:
                call()
            spent = commands(client) - before
        [row] = store.candidates([due.id]).value
        succeed(store, row.execution)
        return spent

    store.switch(Switch("stop", "job:stopped", "hold"), off=True)
    more(3, 0)
    spend(0)  # The server gets to know the scripts.
    few = spend(1)
    more(300, 3)

    assert spend(2) == few


def test_counts_of_an_older_release_are_of_any_kind(store: RedisStore, server: RedisServer) -> None:
    with server.client() as client:
        old = {"20000 succeeded count": 7, "20000 succeeded microseconds": 9_000_000}
        client.hset("{sempre}:rollups:one", mapping=old)
    known = Rollup("one", "2024-10-04", State.SUCCEEDED, 7, 9.0)
    assert store.rollups("one").value == [known]

    own = replace(known, count=2, kind=Kind.SCHEDULED)

    assert store.load([own, known]) == 1
    assert store.rollups("one").value == [known, own]
