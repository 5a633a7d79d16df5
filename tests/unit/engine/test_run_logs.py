"""Logs of runs cost a silent run nothing, and keep no end from being recorded."""

from collections.abc import Sequence

import pytest

from sempre.domain.states import State
from sempre.engine import run_logs
from sempre.engine.events import Happened
from sempre.errors import StoreUnavailable
from sempre.ports.run_logs import RunLog
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, read


class CountingStore(MemoryStore):
    """Counts the calls for logs, and fails if the test wants so."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.error: Exception | None = None

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        self.calls.append(len(logs))
        if self.error is not None:
            raise self.error
        super().write_logs(logs, session=session)

    def texts(self, identity: str) -> list[str]:
        return [each.text for each in self.run_logs(identity).value]


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


def test_a_run_without_lines_costs_no_call(store: CountingStore) -> None:
    worker = Workshop(store).worker(holding=True)
    enqueued(store)
    [row] = worker.turn()

    worker.heal()
    worker.hands.end(row)
    worker.settle()

    assert read(store, row.id).state is State.SUCCEEDED
    assert store.calls == []


def test_a_log_that_has_not_changed_costs_no_call(store: CountingStore) -> None:
    worker = Workshop(store).worker(holding=True)
    enqueued(store)
    [row] = worker.turn()
    worker.hands.logged[row.fence] = "one"

    for _ in range(3):
        worker.heal()

    assert store.calls == [1]


def test_logs_of_many_ends_are_written_by_calls_of_a_limited_size(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_logs, "LARGEST_CALL", 100)
    worker = Workshop(store).worker(holding=True, hands=8)
    ids = [enqueued(store) for _ in range(7)]
    rows = worker.turn()
    for row in rows:
        worker.hands.logged[row.fence] = "x" * (250 if row.id == ids[0] else 30)

    for row in rows:
        worker.hands.end(row)
    worker.settle()

    assert sorted(store.calls) == [1, 3, 3]
    assert all(len(store.texts(each)) == 1 for each in ids)


def test_an_end_is_recorded_though_its_log_cannot_be_stored(store: CountingStore) -> None:
    """The log is stored with a later end, once the store takes it."""
    worker = Workshop(store).worker(holding=True)
    first, second = enqueued(store), enqueued(store)
    rows = {row.id: row for row in worker.turn()}
    worker.hands.logged[rows[first].fence] = "first"
    store.error = StoreUnavailable("the disk is full")

    worker.hands.end(rows[first])
    worker.settle()

    assert read(store, first).state is State.SUCCEEDED
    assert store.texts(first) == []
    store.error = None
    worker.hands.end(rows[second])
    worker.settle()
    assert store.texts(first) == ["first"]


def test_a_defect_in_the_storing_of_logs_is_reported_and_stops_no_end(store: CountingStore) -> None:
    worker = Workshop(store).worker(holding=True)
    identity = enqueued(store)
    [row] = worker.turn()
    worker.hands.logged[row.fence] = "one"
    store.error = ZeroDivisionError("a defect")

    worker.hands.end(row)
    worker.settle()

    assert read(store, identity).state is State.SUCCEEDED
    [event] = worker.heard(Happened.INTERNAL_ERROR)
    assert event.facts["where"] == "logs of runs"
    store.error = None
    worker.settle()
    assert store.calls == [1]


def test_a_log_that_waits_for_the_store_is_dropped_for_newer_ones(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_logs, "MOST_WAITING", 2)
    worker = Workshop(store).worker(holding=True)
    ids = [enqueued(store) for _ in range(3)]
    rows = {row.id: row for row in worker.turn()}
    store.error = StoreUnavailable("away")

    for each in ids:
        worker.hands.logged[rows[each].fence] = each
        worker.hands.end(rows[each])
        worker.settle()
    store.error = None
    worker.maintenance.logs.write_ended()

    assert [store.texts(each) for each in ids] == [[], [ids[1]], [ids[2]]]
