"""Contracts of one-off work: enqueued by code, now or later, once or often."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.app.jobs import Job
from sempre.brokers.memory import MemoryBroker
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.ports.broker import Broker
from sempre.ports.executor import Ended
from sempre.ports.messages import Cancelled, UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, read, work_of


def _mail(to: str) -> None:
    """Stand for the user's function."""


def _job(shop: Workshop, broker: Broker | None = None) -> Job[[str], None]:
    return shop.app(broker=broker).job(name="mail")(_mail)


def test_work_that_is_put_in_is_begun_once_with_its_arguments(store: Store) -> None:
    """The first worker that queries begins the work."""
    shop = Workshop(store)

    receipt = _job(shop).enqueue("ada@example.org")

    [row] = shop.worker().work_off()
    assert (row.id, row.kind) == (receipt.id, Kind.ENQUEUED)
    assert row.snapshot.args == {"to": "ada@example.org"}
    assert shop.worker().work_off() == []
    assert read(store, receipt.id).state is State.SUCCEEDED


def test_work_with_a_delay_does_not_begin_before_it_is_over(store: Store) -> None:
    """The work waits as a separate row."""
    shop = Workshop(store)

    receipt = _job(shop).options(delay="10m").enqueue("ada@example.org")

    assert shop.worker().work_off() == []
    row = read(store, receipt.id)
    assert row.is_untried
    assert timedelta(minutes=9) < row.due_at - shop.now < timedelta(minutes=11)


def test_work_with_an_instant_in_the_past_begins_at_once(store: Store) -> None:
    """The work is late already."""
    shop = Workshop(store)

    receipt = _job(shop).options(at=shop.ago(10), priority=1).enqueue("ada@example.org")

    assert [row.id for row in shop.worker().work_off()] == [receipt.id]


def test_work_with_a_delay_is_told_to_the_broker_with_it(store: Store) -> None:
    """The broker holds a ticket, and the row is marked as announced."""
    shop = Workshop(store)
    broker = MemoryBroker()
    job = _job(shop, broker)

    later, now = job.options(delay="10m").enqueue("ada"), job.enqueue("bob")

    assert {read(store, each.id).state for each in (later, now)} == {State.SCHEDULED}
    assert [row.id for row in shop.worker(broker=broker).work_off()] == [now.id]


def test_one_off_work_can_be_cancelled_before_it_begins(store: Store) -> None:
    """Cancelled work never begins."""
    shop = Workshop(store)
    mail = enqueued(shop.store)

    assert shop.store.cancel([mail], actor="operator") == [Cancelled.ENDED]

    assert shop.worker().work_off() == []
    assert read(store, mail).state is State.CANCELLED


def test_a_duplicate_is_a_receipt_for_the_one_there_is(store: Store) -> None:
    """While the first execution waits or runs; after its end, new work is accepted."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)

    def put() -> tuple[str, bool]:
        [receipt] = shop.store.enqueue([work_of(store, unique=UniqueKey("mail:7"))])
        return receipt.id, receipt.created

    first, created = put()
    assert created
    assert put() == (first, False)
    [row] = worker.turn()
    assert put() == (first, False)
    worker.end(row, Ended.FAILED)

    second, created = put()
    assert created
    assert second != first
    assert [row.id for row in worker.turn()] == [second]


def test_a_retry_whose_key_is_taken_fails_as_coalesced(store: Store) -> None:
    """Invariant 8: there are never two that wait under one key."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    works = [
        work_of(store, unique=UniqueKey("mail:7", "live"), retry=Retry(3), args={"number": number})
        for number in range(2)
    ]
    assert [each.created for each in shop.store.enqueue(works[:1])] == [True]
    [first] = worker.turn()
    assert [each.created for each in shop.store.enqueue(works[1:])] == [True]

    worker.end(first, Ended.FAILED, error="OSError: refused")

    second = works[1].execution.id
    failed = read(store, first.id)
    assert (failed.state, failed.reason) == (State.FAILED, f"coalesced into {second}")
    assert [row.id for row in worker.turn()] == [second]
