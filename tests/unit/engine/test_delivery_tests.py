"""A probe for a deaf broker, and a broker that rests after a failure."""

from datetime import timedelta

from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import ForgetfulBroker, StillClock
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued

HOUR = 3600.0


def test_a_worker_waits_while_its_broker_rests_though_a_probe_is_due() -> None:
    shop, clock, broker = Workshop(MemoryStore()), StillClock(), ForgetfulBroker()
    lease, sweep = timedelta(seconds=2 * HOUR), timedelta(seconds=15)
    worker = shop.worker(broker=broker, clock=clock, grace=timedelta(0), sweep=sweep, lease=lease)
    worker.turn()
    worker.fetcher.tickets.tests.listened(until=clock.elapsed() + HOUR)
    clock.move(HOUR)
    broker.is_deaf = True
    enqueued(shop.store)
    worker.fetch_some()
    worker.engine.bell.breaker.failed()
    clock.move(0.1)
    assert worker.fetcher.tickets.tests.next < clock.elapsed()

    rests = [worker.fetcher.step(session=worker.heartbeat.session, limit=1) for _ in range(4)]

    assert max(rests) > 0
