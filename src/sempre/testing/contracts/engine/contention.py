"""Contracts of claims under edits: a schedule that is edited all the time loses none of its slots.

The editor acts at the worst moment: after every reading, and before the claim that is planned from
that reading.
"""

# ruff: noqa: S101, PLR2004, ANN401 - a contract asserts, with literals; answers are handed on

from collections.abc import Callable, Sequence
from typing import Any, cast

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.tickets import Ticket, read_ticket
from sempre.ports.broker import Broker, Message
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker, StillClock
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import MINUTE

READINGS = {"candidates", "due"}
CLAIMS = {"claim", "claim_exclusively"}
SOON = 0.1


class _Meddler:
    """Stands between workers and a store.

    Attributes:
        after_reading: called after every reading that a claim is planned from.
        refusals: how many of the next claims are refused.
    """

    def __init__(self, shop: Workshop) -> None:
        """Stand before the store of a workshop, for every worker that comes later."""
        self._store = shop.store
        self.after_reading: Callable[[], object] = lambda: None
        self.refusals = 0
        shop.store = cast("Store", self)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in READINGS:
            return found

        def read(*arguments: Any, **options: Any) -> Any:
            answer = found(*arguments, **options)
            self.after_reading()
            return answer

        return read

    def claim(self, orders: Sequence[Any], *, session: str) -> list[Execution | None]:
        if self._refuses():
            return [None] * len(orders)
        return self._store.claim(orders, session=session)

    def claim_exclusively(
        self, ids: Sequence[str], plan: Callable[[Any], Sequence[Any]], *, session: str
    ) -> list[Execution | bool]:
        if self._refuses():
            return [False for _ in plan(self._store.candidates(ids))]
        return self._store.claim_exclusively(ids, plan, session=session)

    def _refuses(self) -> bool:
        self.refusals -= 1
        return self.refusals >= 0


def _edits(shop: Workshop, meddler: _Meddler, name: str = "billing") -> list[int]:
    """Edit a schedule after every reading; return the priorities that the edits set."""
    given: list[int] = []
    editor = shop.schedule(name)

    def edit() -> None:
        given.append(2000 + len(given))
        editor.edit(priority=given[-1])

    meddler.after_reading = edit
    return given


def _put_ticket(worker: DrivenWorker, row: Execution) -> None:
    bell = worker.engine.bell
    body = Ticket(worker.engine.store.uuid, row.id).to_text()
    bell.broker.put([Message(bell.lane(row.snapshot.queue), body)])


def _tickets(broker: ForgetfulBroker, lane: str) -> list[str]:
    """Return the unreserved tickets of a lane."""
    return [body for body in broker.bodies(lane) if isinstance(read_ticket(body), Ticket)]


def _begun(worker: DrivenWorker, clock: StillClock, *, turns: int) -> list[str]:
    """Return the executions that a worker begins in the given turns, in quick succession."""
    begun = []
    for _ in range(turns):
        begun += [row.id for row in worker.turn()]
        clock.move(SOON)
    return begun


def test_a_slot_whose_schedule_is_edited_all_the_time_is_begun_by_its_ticket(store: Store) -> None:
    """By the first ticket, at once; every edit is made, and the last one is in force."""
    shop = Workshop(store)
    meddler = _Meddler(shop)
    worker = shop.worker(broker=ForgetfulBroker())
    assert worker.turn() == []
    [row] = shop.due().rows
    given = _edits(shop, meddler)

    _put_ticket(worker, row)
    begun = worker.turn()

    assert [each.id for each in begun] == [row.id]
    assert len(given) >= 2
    assert shop.row().definition.priority == given[-1]
    assert [shop.minutes(each.run_at) for each in shop.rows() if each.is_live] == [-30]


def test_a_slot_whose_schedule_is_edited_all_the_time_is_begun_by_a_few_queries(
    store: Store,
) -> None:
    """Workers find the slot in the store, with either kind of broker."""
    brokers: dict[str, Broker | None] = {"store": None, "carrying": ForgetfulBroker()}
    for name, broker in brokers.items():
        shop, clock = Workshop(store), StillClock()
        meddler = _Meddler(shop)
        worker = shop.worker(broker=broker, clock=clock)
        [row] = shop.due(name).rows
        given = _edits(shop, meddler, name)

        begun = _begun(worker, clock, turns=3)

        assert begun == [row.id]
        assert given


def test_a_slot_past_its_deadline_is_missed_though_its_schedule_is_edited_all_the_time(
    store: Store,
) -> None:
    """Any decision on a row is as certain as a start."""
    shop, clock = Workshop(store), StillClock()
    meddler = _Meddler(shop)
    worker = shop.worker(clock=clock)
    [row] = shop.due(deadline=MINUTE).rows
    _edits(shop, meddler)

    assert _begun(worker, clock, turns=3) == []

    assert [each.state for each in shop.rows() if each.id == row.id] == [State.MISSED]


def test_a_slot_whose_schedule_is_disabled_after_the_reading_is_not_begun(store: Store) -> None:
    """After any number of claims: the revision decides, as ever."""
    shop, clock = Workshop(store), StillClock()
    meddler = _Meddler(shop)
    worker = shop.worker(broker=ForgetfulBroker(), clock=clock)
    assert worker.turn() == []
    [row] = shop.due().rows
    handle = shop.schedule()
    meddler.after_reading = handle.disable

    _put_ticket(worker, row)

    assert _begun(worker, clock, turns=3) == []
    assert [each.state for each in shop.rows()] == [State.SKIPPED]


def test_a_refused_ticket_is_kept_and_tried_again_soon(store: Store) -> None:
    """Also if the next sweep is far: nothing else would speak of the row until then."""
    shop, clock = Workshop(store), StillClock()
    meddler = _Meddler(shop)
    worker = shop.worker(broker=ForgetfulBroker(), clock=clock)
    assert worker.turn() == []
    [row] = shop.due().rows
    meddler.refusals = 3

    _put_ticket(worker, row)

    assert worker.turn() == []
    clock.move(SOON)
    assert [each.id for each in worker.turn()] == [row.id]


def test_a_ticket_that_is_refused_again_goes_back_to_the_broker(store: Store) -> None:
    """The store may refuse the session itself: then a ticket in hand is useless."""
    shop, clock, broker = Workshop(store), StillClock(), ForgetfulBroker()
    meddler = _Meddler(shop)
    worker = shop.worker(broker=broker, clock=clock)
    assert worker.turn() == []
    [row] = shop.due().rows
    lane = worker.engine.bell.lane(row.snapshot.queue)
    meddler.refusals = 100
    _put_ticket(worker, row)

    assert worker.turn() == []
    assert not _tickets(broker, lane)
    clock.move(SOON)
    assert worker.turn() == []

    assert len(_tickets(broker, lane)) == 1


def test_a_refused_sweep_queries_the_store_again_soon(store: Store) -> None:
    """Also with a broker that carries tickets: the broker may have no ticket of the row."""
    shop, clock = Workshop(store), StillClock()
    meddler = _Meddler(shop)
    worker = shop.worker(broker=ForgetfulBroker(), clock=clock)
    [row] = shop.due().rows
    meddler.refusals = 2

    assert worker.turn() == []

    assert _begun(worker, clock, turns=3) == [row.id]
