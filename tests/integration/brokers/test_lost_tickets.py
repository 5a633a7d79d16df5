"""Real servers that lose tickets: `why` tells each loss with its delay."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.app.enqueue.receipt import Receipt
from sempre.domain.explanation import Code
from sempre.domain.states import State
from sempre.ports.broker import Broker
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import beanstalkd_server
from tests.integration.redis.redis_server import redis_server

LATE_FOR = 3.0


def beanstalkd() -> Iterator[Broker]:
    with beanstalkd_server() as server:
        yield server.broker()


def redis() -> Iterator[Broker]:
    # Imported here: the driver is an extra.
    from sempre.brokers.redis import RedisBroker  # noqa: PLC0415

    with redis_server(appendonly="no") as server:
        yield RedisBroker(server.url)


@pytest.fixture(params=[beanstalkd, redis], ids=lambda each: each.__name__)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    yield from request.param()


def announced(app: Sempre, receipts: list[Receipt[None]]) -> bool:
    states = {app.execution(each.id).row.state for each in receipts}
    return states == {State.SCHEDULED}


def ended(app: Sempre, receipts: list[Receipt[None]]) -> bool:
    return all(app.execution(each.id).row.state is State.SUCCEEDED for each in receipts)


def lose(app: Sempre, broker: Broker) -> None:
    assert broker.empty([app.queue_name("default")])


def test_a_queue_that_was_lost_is_told_with_the_delay(broker: Broker, tmp_path: Path) -> None:
    app = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}", broker=broker, lease="60s", sweep="30s")

    @app.job
    def mail() -> None: ...

    with app.running():
        eventually(lambda: app.engine.store.last_pass().value.finished_at is not None)
        receipt = mail.options(delay="2s").enqueue()
        eventually(lambda: announced(app, [receipt]))
        lose(app, broker)
        due = app.execution(receipt.id).row.due_at
        eventually(lambda: (app.clock.now() - due).total_seconds() > LATE_FOR)

        app.watchdog.force()

        eventually(lambda: ended(app, [receipt]))
    found = app.why(receipt.id)
    app.close()
    assert found.codes() == [Code.ENQUEUED, Code.QUEUE_LOST, Code.ATTEMPT_SUCCEEDED]
    after = found.causes[1].facts["after"]
    assert found.late is not None
    assert after is not None
    assert found.late.total_seconds() > LATE_FOR


def test_a_sweep_that_finds_lost_tickets_leaves_an_entry(broker: Broker, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    app = Sempre(url, broker=broker, lease="6s", sweep="1s", grace="0.1s")

    @app.job
    def mail() -> None: ...

    with app.running():
        eventually(lambda: app.engine.store.last_pass().value.finished_at is not None)
        # A sweep may come within grace after one of them was due, and not after all.
        delays = ("2s", "2.3s", "2.6s")
        receipts = [mail.options(delay=each).enqueue() for each in delays]
        eventually(lambda: announced(app, receipts))
        lose(app, broker)
        eventually(lambda: ended(app, receipts))
    entries = [each.after for each in app.actions(verb="heal", target="queue:default")]
    app.close()
    causes = {each["cause"] for each in entries if isinstance(each, dict)}
    assert "ticket lost" in causes
