"""What was not there a moment ago is not asked for in vain, and keeps nobody waiting for it."""

from collections.abc import Sequence
from datetime import timedelta

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.clock import Clock
from sempre.domain.execution import Execution
from sempre.engine.fetcher import Fetcher
from sempre.engine.kind_turns import ABSENCE, WorkKind
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.executor import Run, Task
from sempre.ports.messages import Candidate, Reading, Session, Wanted
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand

SOON = ABSENCE[WorkKind.SLOTS]
SPEC = WorkerSpec({"work": Task("work", print)}, frozenset({"default"}), 10)


class Noting(MemoryStore):
    """A store that notes in which order it was asked for slots and for one-off work."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.asked: list[str] = []

    @property
    def looks(self) -> int:
        return self.asked.count("slots")

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        self.asked += ["slots"] * (wanted.overdue is None)
        return super().due(wanted)

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        self.asked += ["one-off"] * (wanted.overdue is None)
        return super().claim_one_off(wanted, session=session, ids=ids)


class Shop:
    """One schedule that is due a minute after noon, and more one-off work than is ever taken."""

    def __init__(self, backlog: int = 500) -> None:
        self.clock, self.begun = Hand(), list[Run]()
        self.store = Noting(self.clock)
        self.app = Sempre(self.store, broker=StoreBroker(), clock=self.clock)
        self.work = self.app.job(name="work")(lambda: None)
        self.app.add("slots", Every("1m"), self.work)
        self.app.sync()
        self.app.enqueue_many(self.work.bind() for _ in range(backlog))
        self.store.register(Session("one"), lease=timedelta(hours=9))
        self.fetcher = Fetcher(
            self.app.engine, spec=SPEC, begin=self.begun.extend, called=lambda: None
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


def test_an_idle_worker_that_is_woken_asks_for_one_off_work_first() -> None:
    shop = Shop(backlog=0)
    shop.look(1)

    for _ in range(3):
        shop.clock.move(seconds=1)
        shop.store.asked.clear()
        shop.work.enqueue()

        assert shop.look(2) == ["work"]
        assert shop.store.asked[0] == "one-off"
