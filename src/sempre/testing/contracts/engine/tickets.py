"""Contracts of tickets: tickets decide how soon work starts, and never whether."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.engine.rings import ring_orphans
from sempre.engine.tickets import Ticket
from sempre.engine.watchdog import Watchdog
from sempre.ports.broker import Message
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, read

OFTEN = timedelta(microseconds=1)


def _listening(
    shop: Workshop,
    broker: ForgetfulBroker,
    **options: Any,  # noqa: ANN401 - handed on
) -> DrivenWorker:
    """Return a worker that has swept an empty store, and now only listens to the broker."""
    worker = shop.worker(broker=broker, **options)
    assert worker.turn() == []
    return worker


def _put_ticket(worker: DrivenWorker, row: Execution, times: int = 1) -> str:
    """Put a ticket for an execution, due now; return its lane."""
    bell = worker.engine.bell
    lane = bell.lane(row.snapshot.queue)
    body = Ticket(worker.engine.store.uuid, row.id).to_text()
    bell.broker.put([Message(lane, body)] * times)
    return lane


def test_a_row_the_broker_was_not_told_of_is_rung_by_the_pass(store: Store) -> None:
    """The writer died before the announcement; a worker that only listens begins the row."""
    shop = Workshop(store)
    worker = _listening(shop, ForgetfulBroker(), watchdog_interval=OFTEN)
    worker.heal()
    [row] = shop.due().rows
    mail = enqueued(shop.store)
    assert row.state is State.PENDING
    assert worker.turn() == []

    worker.heal()

    assert {read(store, each).state for each in (row.id, mail)} == {State.SCHEDULED}
    assert {each.id for each in worker.turn()} == {row.id, mail}
    assert worker.heard(Happened.PERFORMED)[-1].facts["orphans_enqueued"] == 2


def test_a_successor_is_told_to_the_broker_at_once(store: Store) -> None:
    """If the successor is due within the horizon; else the row stays pending."""
    shop = Workshop(store)
    worker = shop.worker(broker=ForgetfulBroker(), horizon=timedelta(minutes=20))
    shop.due("far")
    shop.behind("near")

    worker.turn()

    [near], [far] = ([row for row in shop.rows(name) if row.is_live] for name in ("near", "far"))
    assert (shop.minutes(near.run_at), near.state) == (-6, State.SCHEDULED)
    assert (shop.minutes(far.run_at), far.state) == (-30, State.PENDING)


def test_a_row_beyond_the_horizon_is_no_orphan(store: Store) -> None:
    """Until the row is due within the horizon."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = shop.worker(broker=broker, horizon=timedelta(minutes=3), watchdog_interval=OFTEN)
    shop.behind()
    worker.turn()

    worker.heal()
    [row] = [row for row in shop.rows() if row.is_live]
    assert row.state is State.PENDING
    shop.worker(broker=broker, watchdog_interval=OFTEN).heal()

    assert read(store, row.id).state is State.SCHEDULED


def test_a_ticket_that_comes_twice_starts_once(store: Store) -> None:
    """In one batch or one after the other, to one worker or to two."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    workers = [_listening(shop, broker, holding=True) for _ in range(2)]
    [row] = shop.due().rows

    lane = _put_ticket(workers[0], row, times=3)
    begun = [each.id for worker in workers for each in worker.turn()]
    _put_ticket(workers[0], row)
    begun += [each.id for worker in workers for each in worker.turn()]

    assert begun == [row.id]
    assert not _is_waiting(broker, lane, row)


def _is_waiting(broker: ForgetfulBroker, lane: str, row: Execution) -> bool:
    """Return whether a ticket for a row is anywhere in a lane."""
    return any(row.id in body for body in broker.bodies(lane))


def test_a_ticket_that_comes_too_early_is_put_back(store: Store) -> None:
    """The ticket is delivered again when the row is due."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    shop.due()
    shop.worker().work_off()
    [later] = [row for row in shop.rows() if row.is_live]

    lane = _put_ticket(worker, later)

    assert worker.turn() == []
    assert _is_waiting(broker, lane, later)
    assert read(store, later.id).is_untried


def test_a_ticket_of_a_superseded_row_is_dropped(store: Store) -> None:
    """The ticket is delivered and ignored; the row that replaces it has its own ticket."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    shop.due()
    shop.worker().work_off()
    [old] = [row for row in shop.rows() if row.is_live]
    shop.schedule(broker=broker).edit(priority=7)
    [new] = [row for row in shop.rows() if row.is_live]

    lane = _put_ticket(worker, old)

    assert worker.turn() == []
    assert not _is_waiting(broker, lane, old)
    assert _is_waiting(broker, lane, new)


def test_a_ticket_for_a_job_we_do_not_know_is_put_back_for_others(store: Store) -> None:
    """The worker reports the ticket; a worker that knows the job begins the row."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker, jobs="bill")
    mail = read(store, enqueued(shop.store))

    lane = _put_ticket(worker, mail)

    assert worker.turn() == []
    assert _is_waiting(broker, lane, mail)
    assert len(worker.heard(Happened.UNROUTABLE)) == 1
    assert [row.id for row in shop.worker(broker=broker).turn()] == [mail.id]


def test_a_message_that_is_none_of_ours_is_dropped(store: Store) -> None:
    """No worker could ever use the message."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    lane = worker.engine.bell.lane("default")
    unknown = Ticket(store.uuid, "00000000-0000-7000-8000-000000000000").to_text()
    broker.put([Message(lane, body) for body in ("", "{", '{"a": 1}', "[1, 2, 3]", unknown)])

    assert worker.turn() == []

    assert broker.bodies(lane) == []
    assert worker.heard(Happened.INTERNAL_ERROR) == []


def test_a_slot_that_waited_is_rung_when_the_earlier_one_ends(store: Store) -> None:
    """The ticket of the slot came while the slot could not begin, and is gone."""
    shop = Workshop(store)
    worker = _listening(shop, ForgetfulBroker(), holding=True)
    running = shop.under_way(worker, overlap="wait")
    [row] = [row for row in shop.rows() if row.is_untried]
    _put_ticket(worker, row)
    assert worker.turn() == []

    worker.end(running)

    assert [each.id for each in worker.turn()] == [row.id]


# When the broker fails


def test_when_the_sentinel_is_gone_everything_is_rung_again(store: Store) -> None:
    """The pass finds the sentinel gone; every row due within the horizon has a ticket again."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker, watchdog_interval=OFTEN)
    worker.heal()
    ids = {shop.due(name).rows[0].id for name in ("billing", "other")} | {enqueued(shop.store)}
    worker.heal()
    broker.forget()
    assert worker.turn() == []

    worker.heal()

    assert worker.heard(Happened.PERFORMED)[-1].facts["rung_again"] == 3
    assert {row.id for row in worker.turn()} == ids
    worker.heal()
    assert worker.heard(Happened.PERFORMED)[-1].facts["rung_again"] == 0


def test_work_that_a_lost_broker_had_is_begun_by_the_next_sweep(store: Store) -> None:
    """Straight from the store, without any ticket."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    first = _listening(shop, broker)
    ids = {shop.due().rows[0].id, enqueued(shop.store)}
    first.heal()

    broker.forget()

    assert {row.id for row in shop.worker(broker=broker).turn()} == ids


def test_a_lost_broker_loses_no_slot_and_starts_none_twice(store: Store) -> None:
    """Invariant 7: at any moment of the loss, and if every ticket is delivered once more."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    shop.behind(catch_up=True)
    begun = []

    for _ in range(8):
        worker = shop.worker(broker=broker, holding=True)
        for row in worker.turn():
            broker.forget()
            begun.append(row)
            _put_ticket(worker, row, times=2)
            assert worker.turn() == []
            worker.end(row)
            broker.forget()

    assert shop.minutes_of(begun) == [44, 34, 24, 14, 4]
    assert shop.ranges() == []


def test_a_broker_that_is_down_keeps_nobody_from_working(store: Store) -> None:
    """Workers query the store; unannounced rows are announced when the broker is up."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = shop.worker(broker=broker)
    broker.is_down = True
    shop.behind(catch_up=True)
    mail = enqueued(shop.store)

    begun = worker.work_off()

    assert len(begun) == 6
    assert mail in {row.id for row in begun}
    assert len(worker.heard(Happened.BROKER_DOWN)) >= 1
    [waiting] = [row for row in shop.rows() if row.is_live]
    assert waiting.state is State.PENDING
    broker.is_down = False
    shop.worker(broker=broker).heal()
    assert read(store, waiting.id).state is State.SCHEDULED


def test_a_pass_rings_orphans_as_soon_as_the_broker_is_back(store: Store) -> None:
    """After an outage seen by any process, even one that backs off from the broker."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    engine = shop.engine(broker=broker, watchdog_interval=OFTEN)
    watchdog = Watchdog(engine)
    watchdog.perform()
    mail = enqueued(shop.store)
    broker.is_down = True
    assert watchdog.perform().orphans_enqueued == 0
    assert ring_orphans(engine) == 0
    assert engine.bell.breaker.rest > 0

    broker.is_down = False

    assert watchdog.perform().orphans_enqueued == 1
    assert read(store, mail).state is State.SCHEDULED
    assert not engine.bell.has_unrung
