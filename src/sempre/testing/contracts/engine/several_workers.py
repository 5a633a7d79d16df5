"""Contracts of several workers on one store: which worker claims what, and in which order."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.grids import Every
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, read


def test_of_two_workers_one_begins_a_slot(store: Store) -> None:
    """And one each of many; nothing is begun twice."""
    shop = Workshop(store)
    names = [f"billing-{number}" for number in range(6)]
    rows = {shop.due(name).rows[0].id for name in names}
    workers = [shop.worker(hands=2, holding=True) for _ in range(4)]

    begun = [row.id for worker in workers for row in worker.turn()]

    assert sorted(begun) == sorted(rows)


def test_a_worker_leaves_jobs_alone_that_it_does_not_know(store: Store) -> None:
    """Of schedules and one-off work; workers that know the jobs begin them."""
    shop = Workshop(store)
    [bill] = shop.due().rows
    mail = enqueued(shop.store)
    biller, mailer = shop.worker(jobs="bill"), shop.worker(jobs="mail")

    assert [row.id for row in biller.work_off()] == [bill.id]
    assert read(store, mail).is_untried

    assert [row.id for row in mailer.work_off()] == [mail]
    assert biller.heard(Happened.INTERNAL_ERROR) == []


def test_a_worker_leaves_queues_alone_that_it_does_not_watch(store: Store) -> None:
    """Of schedules and one-off work."""
    shop = Workshop(store)
    slow = {shop.due(queue="slow").rows[0].id, enqueued(shop.store, queue="slow")}

    assert shop.worker().work_off() == []

    begun = shop.worker(queues="default slow").work_off()
    assert {row.id for row in begun} == slow


def test_a_worker_begins_no_more_than_it_has_hands_for(store: Store) -> None:
    """The rest waits for a free hand, and is begun by the next one that is."""
    shop = Workshop(store)
    for number in range(3):
        shop.due(f"billing-{number}")
    worker = shop.worker(hands=2, holding=True)

    begun = worker.turn()

    assert len(begun) == 2
    assert worker.turn() == []
    worker.end(begun[0])
    assert len(worker.turn()) == 1


def test_the_lowest_priority_goes_first(store: Store) -> None:
    """However long the others have waited."""
    shop = Workshop(store)
    waits = {"late": (5000, 40), "usual": (1000, 35), "soon": (1, 30), "first": (0, 25)}
    for name, (priority, minutes) in waits.items():
        shop.due(name, priority=priority, grid=Every("1h", anchor=shop.ago(minutes)))

    begun = shop.worker(hands=1).turn() + shop.worker(hands=8).turn()

    assert [row.snapshot.name for row in begun] == ["first", "soon", "usual", "late"]


def test_one_off_work_goes_by_priority_too(store: Store) -> None:
    """Lower is sooner."""
    shop = Workshop(store)
    ids = {priority: enqueued(shop.store, priority=priority) for priority in (7, 3, 5)}

    begun = shop.worker(hands=1).work_off()

    assert [row.id for row in begun] == [ids[3], ids[5], ids[7]]


def test_slots_and_one_off_work_take_turns(store: Store) -> None:
    """Neither kind can starve the other while a place is free."""
    shop = Workshop(store)
    for number in range(4):
        shop.due(f"billing-{number}")
        enqueued(shop.store)
    worker = shop.worker(hands=1, holding=True)
    kinds = []

    for _ in range(8):
        [row] = worker.turn()
        kinds.append(row.kind.value)
        worker.end(row)

    assert set(kinds[:4]) == {"scheduled", "enqueued"}
    assert sorted(kinds) == ["enqueued"] * 4 + ["scheduled"] * 4


# A burst


def test_a_burst_begins_what_is_due_and_then_is_exhausted(store: Store) -> None:
    """Without waiting for work that is due later."""
    shop = Workshop(store)
    shop.due()
    mail = enqueued(shop.store)
    worker = shop.worker()
    worker.beat()

    for _ in range(10):
        if worker.exhausted.is_set():
            break
        worker.fetch_due()
        worker.settle()

    assert worker.exhausted.is_set()
    assert [row.state for row in shop.rows()] == [State.SUCCEEDED, State.SCHEDULED]
    assert read(store, mail).state is State.SUCCEEDED


def test_a_burst_runs_what_becomes_due_by_its_own_work(store: Store) -> None:
    """Slots that are caught up, one after the other."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    worker = shop.worker(holding=True)
    worker.beat()
    worker.fetch_due()
    worker.end(worker.hands.begun[0])
    worker.hands.holding = False

    for _ in range(20):
        if worker.exhausted.is_set():
            break
        worker.fetch_due()
        worker.settle()

    assert worker.exhausted.is_set()
    assert sorted(shop.minutes_of(worker.hands.begun)) == [4, 14, 24, 34, 44]


def test_a_burst_is_not_exhausted_before_what_it_began_is_recorded(store: Store) -> None:
    """A run may enqueue more work."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    worker.beat()
    worker.fetch_due()
    [row] = worker.hands.begun

    worker.fetch_due()
    assert not worker.exhausted.is_set()
    worker.hands.end(row)
    worker.fetch_due()
    assert not worker.exhausted.is_set()
    worker.settle()
    worker.fetch_due()

    assert worker.exhausted.is_set()
