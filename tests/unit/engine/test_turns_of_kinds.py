"""What was not there a moment ago is not asked for in vain, and keeps nobody waiting for it."""

from datetime import timedelta

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.engine.claiming import Started
from sempre.engine.fetching import SOON, Fetcher
from sempre.ports.messages import Candidate, Reading, Session, Wanted
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand

WANTED = Wanted(frozenset({"default"}), frozenset({"work"}), 10)


class Noting(MemoryStore):
    """A store that counts how often it was asked for slots that are due."""

    looks = 0

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        self.looks += wanted.overdue is None
        return super().due(wanted)


class Shop:
    """One schedule that is due a minute after noon, and more one-off work than is ever taken."""

    def __init__(self) -> None:
        self.clock, self.begun = Hand(), list[Started]()
        self.store = Noting(self.clock)
        self.app = Sempre(self.store, broker=StoreBroker(), clock=self.clock)
        work = self.app.job(name="work")(lambda: None)
        self.app.add("slots", Every("1m"), work)
        self.app.sync()
        self.app.enqueue_many(work.bind() for _ in range(500))
        self.store.register(Session("one"), lease=timedelta(hours=9))
        self.fetcher = Fetcher(
            self.app.engine, wanted=WANTED, begin=self.begun.extend, called=lambda: None
        )

    def look(self, times: int) -> list[str]:
        """Look so often, each time for a few; return the names of what began."""
        self.begun.clear()
        for _ in range(times):
            self.fetcher.step(session="one", limit=5)
        return [each.execution.snapshot.name for each in self.begun]


def test_slots_that_were_not_there_are_not_asked_for_at_every_claim_of_one_off_work() -> None:
    shop = Shop()
    shop.look(2)
    looks = shop.store.looks

    assert len(shop.look(10)) == 50
    assert shop.store.looks == looks

    shop.clock.move(seconds=SOON)
    shop.look(2)
    assert shop.store.looks == looks + 1


def test_a_slot_that_is_known_to_be_due_does_not_wait_behind_one_off_work() -> None:
    shop = Shop()
    shop.clock.move(seconds=60 - SOON / 2)
    assert "slots" not in shop.look(3)
    shop.fetcher.expect(shop.clock.now() + timedelta(seconds=SOON / 2))

    shop.clock.move(seconds=SOON / 2)

    assert "slots" in shop.look(2)
