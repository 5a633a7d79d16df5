"""A worker whose store was emptied, or replaced by another one, begins anew."""

from datetime import timedelta

import pytest

from sempre.clock import SystemClock
from sempre.engine.events import Happened
from sempre.errors import StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.messages import Reading, Tick, Wanted
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued


class Emptied(MemoryStore):
    """A store that somebody can empty, or that can fail in another way."""

    failure: Exception | None = None

    def empty(self) -> None:
        self.__init__(SystemClock())  # type: ignore[misc]
        self.failure = StoreGone("there is no store in it")

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        if isinstance(self.failure, StoreGone):
            self.failure = None
        super().upgrade(as_copy=as_copy, fence=fence)

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        if self.failure:
            raise self.failure
        return super().tick(session, wanted, lease=lease)


@pytest.fixture
def store() -> Emptied:
    return Emptied()


@pytest.fixture
def worker(store: Emptied) -> DrivenWorker:
    """A worker that holds a run."""
    shop = Workshop(store)
    enqueued(store)
    worker = shop.worker(holding=True)
    assert len(worker.turn()) == 1
    return worker


def test_a_worker_sets_an_emptied_store_up_again_and_ends_what_it_held(
    store: Emptied, worker: DrivenWorker
) -> None:
    [held], session, before = worker.hands.begun, worker.heartbeat.session, store.uuid
    store.empty()

    worker.beat()

    [told] = worker.heard(Happened.STORE_REPLACED)
    assert told.facts == {"store": before, "found": ""}
    assert worker.hands.asked == {held.id: "the store is gone"}
    worker.beat()
    assert worker.heartbeat.session not in ("", session)
    assert worker.heard(Happened.SESSION_LOST) == []
    [row] = _next_run(store, worker)
    assert row > held.fence


def test_a_worker_tells_a_store_that_another_process_set_up_what_it_declares(
    store: Emptied, worker: DrivenWorker
) -> None:
    restored: list[int] = []
    worker.identity.restore = restored.append
    store.upgrade(as_copy=True)

    worker.beat()
    worker.beat()

    [told] = worker.heard(Happened.STORE_REPLACED)
    assert told.facts["found"] == store.uuid
    assert restored == [worker.hands.begun[0].fence]


@pytest.mark.parametrize("failure", [StoreUnavailable("it is down"), StoreRefused("no password")])
def test_a_store_that_is_down_or_refuses_is_no_new_store(
    failure: Exception, store: Emptied, worker: DrivenWorker
) -> None:
    store.failure = failure

    try:
        worker.beat()
    except StoreRefused as error:
        worker._failed("heartbeat", error)  # noqa: SLF001 - as the loop does
    store.failure = None
    worker.beat()

    assert worker.heard(Happened.STORE_REPLACED) == []
    assert worker.hands.asked == {}


def test_a_store_that_cannot_be_set_up_yet_is_told_of_once_and_tried_again(
    store: Emptied, worker: DrivenWorker
) -> None:
    def refuse(_fence: int) -> None:
        raise StoreRefused("this user lacks a right")

    restore, worker.identity.restore = worker.identity.restore, refuse
    store.empty()
    for _ in range(3):
        with pytest.raises(StoreRefused):
            worker.beat()
    worker.identity.restore = restore

    worker.beat()
    worker.beat()

    assert len(worker.heard(Happened.STORE_REPLACED)) == 1
    assert worker.heartbeat.session


def test_whatever_operation_finds_the_store_gone_lets_the_next_beat_begin_anew(
    worker: DrivenWorker,
) -> None:
    worker._failed("fetcher", StoreGone("there is no table schedules"))  # noqa: SLF001 - as the loop does

    worker.beat()

    assert len(worker.heard(Happened.STORE_REPLACED)) == 1


def test_a_worker_listens_to_the_lanes_of_the_new_store(store: Emptied) -> None:
    shop, broker = Workshop(store), ForgetfulBroker()
    worker = shop.worker(broker=broker)
    worker.turn()
    store.empty()
    worker.turn()
    worker.turn()
    mail = enqueued(store)
    engine = worker.engine
    engine.bell.ring([store.candidates([mail]).value[0].execution], engine.time.now())

    assert [row.id for row in worker.turn()] == [mail]
    assert broker.bodies(engine.bell.lane("default")) == []


def _next_run(store: Emptied, worker: DrivenWorker) -> list[int]:
    enqueued(store)
    return [row.fence for row in worker.turn()]
