"""Contracts of limits: workers never exceed one, and nothing that waits for one is forgotten."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections.abc import Collection
from itertools import pairwise

from sempre.brokers.memory import MemoryBroker
from sempre.domain.execution import Execution
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.ports.broker import Broker
from sempre.ports.executor import Ended
from sempre.ports.messages import Switch
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, expire, read
from sempre.testing.polling import eventually

TWO = (Concurrency(2),)


def _drain(workers: list[DrivenWorker], *, most: int) -> list[Execution]:
    """Let workers take turns until a round begins nothing; return the executions begun.

    No worker does its maintenance, so that no sweep helps.
    """
    begun: list[Execution] = []
    running: list[tuple[DrivenWorker, Execution]] = []
    idle = 0
    while idle < 3:
        fresh = [(worker, row) for worker in workers for row in worker.turn()]
        running += fresh
        begun += [row for _, row in fresh]
        assert len(running) <= most
        idle = 0 if running else idle + 1
        if running:
            worker, row = running.pop(0)
            worker.end(row)
    return begun


def _check_drained(shop: Workshop, broker: Broker | None = None) -> None:
    ids = [enqueued(shop.store, limits=TWO) for _ in range(9)]
    workers = [shop.worker(hands=4, holding=True, broker=broker) for _ in range(3)]

    begun = _drain(workers, most=2)

    assert sorted(row.id for row in begun) == sorted(ids)
    assert {read(shop.bare, each).state for each in ids} == {State.SUCCEEDED}


def test_a_limited_backlog_drains_without_a_sweep(store: Store) -> None:
    """Each end frees the next, by whichever worker it came."""
    _check_drained(Workshop(store))


def test_a_limited_backlog_drains_by_tickets(store: Store) -> None:
    """Freed executions are rung like other ones that wait."""
    _check_drained(Workshop(store), MemoryBroker())


def test_slots_and_one_off_work_share_the_limit_of_a_tag(store: Store) -> None:
    """One of each kind waits for the other, and all run."""
    shop, limits = Workshop(store), (Concurrency(1, tag="both"),)
    ids = {shop.due(f"billing-{number}", limits=limits).rows[0].id for number in range(2)}
    ids |= {enqueued(shop.store, limits=limits) for _ in range(2)}

    begun = _drain([shop.worker(holding=True), shop.worker(holding=True)], most=1)

    assert {row.id for row in begun} == ids


def test_unlimited_work_begins_while_limited_work_waits(store: Store) -> None:
    """A full limit takes no hand."""
    shop = Workshop(store)
    for _ in range(20):
        enqueued(shop.store, limits=(Concurrency(1),), priority=1)
    free = {enqueued(shop.store), shop.due().rows[0].id}
    worker = shop.worker(hands=3, holding=True)

    begun = [row.id for _ in range(6) for row in worker.turn()]

    assert free <= set(begun)
    assert len(begun) == 3


def test_what_a_dead_worker_ran_leaves_its_room_after_the_rescue(store: Store) -> None:
    """A rescue is followed by the next execution, before the sweep."""
    shop = Workshop(store)
    ids = [enqueued(shop.store, limits=(Concurrency(1),), on_unknown="skip") for _ in range(2)]
    dead, other = shop.worker(holding=True), shop.worker(holding=True)
    other.heal()
    assert [row.id for row in dead.turn()] == ids[:1]
    expire(shop.bare, dead.heartbeat.session)

    assert other.turn() == []
    assert other.engine.store.expired(10).value
    other.maintenance.rescuer.rescue()

    assert [row.id for row in other.turn()] == ids[1:]


def _open_nothing(keys: Collection[str]) -> None:
    """Stand for a process that has died before it opened a limit."""


def test_a_sweep_frees_what_a_dead_worker_did_not(store: Store) -> None:
    """A worker that dies between a settlement and the opening costs one sweep."""
    shop = Workshop(store)
    ids = [enqueued(shop.store, limits=(Concurrency(1),)) for _ in range(2)]
    dead, other = shop.worker(holding=True), shop.worker()
    [row] = dead.turn()
    dead.engine.limits.open = _open_nothing  # type: ignore[method-assign]
    dead.end(row)
    assert other.work_off() == []

    other.heal()

    assert [each.id for each in other.work_off()] == ids[1:]


def test_a_retry_leaves_its_room_to_others_and_comes_back(store: Store) -> None:
    """A failed run ends its claim, whatever follows."""
    shop = Workshop(store)
    ids = [enqueued(shop.store, limits=(Concurrency(1),)) for _ in range(2)]
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    assert row.id == ids[0]

    worker.end(row, Ended.FAILED)

    assert [each.id for each in worker.turn()] == ids[1:]


def test_a_rate_starts_the_next_one_when_it_opens(store: Store) -> None:
    """Maintenance wakes at that instant; no sweep is due for half an hour."""
    shop = Workshop(store)
    ids = [enqueued(shop.store, limits=(Rate("1/s"),)) for _ in range(3)]
    worker = shop.worker()
    worker.heal()
    begun = worker.turn()
    assert 0 < worker.maintenance.rest <= 1.0

    def has_all() -> bool:
        worker.maintain()
        begun.extend(worker.turn())
        return len(begun) == len(ids)

    eventually(has_all)

    starts = [row.started_at for row in begun if row.started_at]
    assert [row.id for row in begun] == ids
    assert all((later - start).total_seconds() > 0.9 for start, later in pairwise(starts))


def test_the_wait_for_a_limit_is_not_lateness(store: Store) -> None:
    """A slot that waited starts on time, and its schedule goes on without a missed slot."""
    shop, limits = Workshop(store), (Concurrency(1, tag="both"),)
    worker = shop.worker(holding=True)
    enqueued(shop.store, limits=limits, priority=1)
    [first] = worker.turn()
    [slot] = shop.due(limits=limits).rows
    assert worker.turn() == []
    assert read(store, slot.id).held_by == "limit:concurrency:tag:both"

    worker.end(first)
    [row] = worker.turn()

    assert (row.id, row.run_at) == (slot.id, slot.run_at)
    late = worker.heard(Happened.STARTED)[-1].facts["late"]
    assert isinstance(late, float)
    assert late < 60
    assert shop.ranges() == []


def test_limited_work_that_a_switch_stops_waits_and_then_runs(store: Store) -> None:
    """Under either mode of switch: no later slot would do the work."""
    shop, worker = Workshop(store), Workshop(store).worker()
    ids = [enqueued(shop.store, limits=(Concurrency(1),), tags=("night",)) for _ in range(3)]
    switch = Switch("stop", "tag:night")
    shop.store.switch(switch, off=True)

    assert worker.work_off() == []
    assert {read(store, each).held_by for each in ids} == {"stop"}
    shop.store.switch(switch, off=False)

    assert sorted(row.id for row in worker.work_off()) == sorted(ids)
