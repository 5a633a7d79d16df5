"""`sempre doctor` probes a real broker, and leaves nothing behind."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.app.health import setup
from sempre.app.health.setup import read_setup
from sempre.brokers.memory import MemoryBroker
from sempre.brokers.redis import RedisBroker
from sempre.ports.broker import Broker, Message
from tests.integration.brokers.beanstalkd_server import beanstalkd_server
from tests.integration.redis.redis_server import redis_server


def beanstalkd() -> Iterator[Broker]:
    with beanstalkd_server() as server:
        yield server.broker()


def redis() -> Iterator[Broker]:
    with redis_server() as server:
        yield RedisBroker(server.url)


@pytest.fixture(params=[beanstalkd, redis], ids=lambda each: each.__name__)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    yield from request.param()


def test_a_broker_that_delivers_is_fine_and_left_empty(broker: Broker, tmp_path: Path) -> None:
    app = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}", broker=broker)
    lane = f"{app.engine.bell.lane('')}_probe"

    found = [read_setup(app.engine).broker for _ in range(2)]
    is_left = broker.has_any(lane)
    app.close()

    assert found == ["", ""]
    assert not is_left


class SwallowingBroker(MemoryBroker):
    """Takes messages and delivers none."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        return ["1" for _ in messages]


def test_a_broker_that_delivers_nothing_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ANSWER", 0.01)
    app = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}", broker=SwallowingBroker())

    found = read_setup(app.engine).broker
    app.close()

    assert found.startswith("it took a message and did not deliver it within")
