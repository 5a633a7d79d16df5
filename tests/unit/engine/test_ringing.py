"""What the broker was not told of is told, but not without end to a store that cannot note it."""

from collections.abc import Sequence
from datetime import timedelta

from sempre.brokers.memory import MemoryBroker
from sempre.clock import SystemClock
from sempre.config import Settings
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.rings import ORPHANS_AT_ONCE, ring_orphans
from sempre.errors import StoreUnavailable
from sempre.ports.broker import Message
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.store.builders import work_of


class FullStore(MemoryStore):
    """A store that can still be read, as one on a full disk."""

    def mark_announced(self, ids: Sequence[str]) -> int:
        raise StoreUnavailable(f"{len(ids)} rows could not be written")


class CountingBroker(MemoryBroker):
    put_in = 0

    def put(self, messages: Sequence[Message]) -> list[str]:
        self.put_in += len(messages)
        return super().put(messages)


def test_orphans_that_cannot_be_marked_are_rung_once_in_a_pass() -> None:
    store, broker, clock, events = FullStore(), CountingBroker(), SystemClock(), Events()
    bell = Bell(store, broker, horizon=timedelta(hours=1), clock=clock, events=events)
    engine = Engine(store, bell, Settings(), clock, events, "2026.1")
    store.enqueue([work_of(store) for _ in range(ORPHANS_AT_ONCE + 1)])

    rung = ring_orphans(engine)

    assert rung == broker.put_in == ORPHANS_AT_ONCE
