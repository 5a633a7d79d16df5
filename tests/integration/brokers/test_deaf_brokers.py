"""Real servers that take tickets and deliver none: a paused tube, a lane that is always emptied."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.brokers.redis import RedisBroker
from sempre.domain.states import State
from sempre.engine.events import Event, Happened
from sempre.ports.broker import Broker, Message
from sempre.ports.messages import ExecutionQuery
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import BeanstalkdServer, beanstalkd_server
from tests.integration.redis.redis_server import redis_server

PAUSED_FOR = 3600


class Clinic:
    """A worker with a schedule that runs every second, on a broker that can be made deaf."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        self.app = Sempre(
            f"sqlite:///{folder / 'jobs.db'}", broker=broker, lease="6s", sweep="1s", grace="0.1s"
        )
        self.told: list[Event] = []
        self.begun: list[object] = []
        self.app.events.listen(self.told.append, Happened.BROKER_DEAF, Happened.BROKER_HEARD)
        self.app.events.listen(self._note, Happened.STARTED)
        self.app.every(1)(tock)

    def _note(self, event: Event) -> None:
        self.begun.append(event.facts["execution"].run_at)

    def names(self) -> list[Happened]:
        return [event.name for event in self.told]

    def wait_for_slots(self, count: int) -> None:
        wanted = len(self.begun) + count
        eventually(lambda: len(self.begun) >= wanted)


def tock() -> None:
    pass


def check(clinic: Clinic, deafen: Callable[[], None], mend: Callable[[], None]) -> None:
    """Let the broker be deaf for a while: every slot runs, each once."""
    with clinic.app.running():
        clinic.wait_for_slots(2)
        deafen()
        eventually(lambda: Happened.BROKER_DEAF in clinic.names())
        clinic.wait_for_slots(4)
        mend()
        eventually(lambda: clinic.names()[-1] is Happened.BROKER_HEARD)
        clinic.wait_for_slots(3)

    store = clinic.app.engine.store
    page = store.executions(ExecutionQuery(limit=1000)).value
    ran = sorted(row.run_at for row in page.items if row.state is State.SUCCEEDED)
    gaps = {(after - before).total_seconds() for before, after in pairwise(ran)}
    assert gaps == {1.0}, "a slot was left out"
    assert len(clinic.begun) == len(set(clinic.begun)), "a slot ran twice"
    assert {event.facts["lane"] for event in clinic.told} == {clinic.app.queue_name("default")}
    clinic.app.close()


@pytest.fixture
def server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


def test_while_a_tube_is_paused_the_store_serves(server: BeanstalkdServer, tmp_path: Path) -> None:
    clinic = Clinic(tmp_path, server.broker())
    tube = clinic.app.queue_name("default")

    def pause(seconds: int) -> None:
        with server.wire() as wire:
            [answer] = wire.ask([f"pause-tube {tube} {seconds}\r\n".encode()])
        assert answer.word == "PAUSED"

    check(clinic, lambda: pause(PAUSED_FOR), lambda: pause(0))


class SwallowingRedis(RedisBroker):
    """Loses at once whatever it has taken, as long as somebody empties its lanes."""

    swallows = False

    def put(self, messages: Sequence[Message]) -> list[str]:
        handles = super().put(messages)
        if self.swallows:
            self.empty([message.lane for message in messages])
        return handles


def test_while_a_server_swallows_tickets_the_store_serves(tmp_path: Path) -> None:
    with redis_server(appendonly="no") as server:
        broker = SwallowingRedis(server.url)
        clinic = Clinic(tmp_path, broker)

        check(
            clinic,
            lambda: setattr(broker, "swallows", True),
            lambda: setattr(broker, "swallows", False),
        )
