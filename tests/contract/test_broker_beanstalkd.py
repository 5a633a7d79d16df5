"""The Beanstalkd broker keeps the contract of a broker."""

from collections.abc import Iterator

import pytest

from sempre.ports.broker import Broker
from sempre.testing.contracts.broker import *  # noqa: F403
from tests.integration.brokers.beanstalkd_server import BeanstalkdServer, beanstalkd_server


@pytest.fixture(scope="module")
def server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


@pytest.fixture
def broker(server: BeanstalkdServer) -> Iterator[Broker]:
    opened = server.broker()
    yield opened
    opened.close()


@pytest.fixture
def hasty(server: BeanstalkdServer) -> Iterator[Broker]:
    opened = server.broker(visibility=1)
    yield opened
    opened.close()
