"""Contracts of the logs of runs: stored with the beat, and whole before the end of a run is."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.states import State
from sempre.ports.executor import Ended
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, expire, hasten, read


def _texts(store: Store, identity: str) -> list[str]:
    return [each.text for each in store.run_logs(identity).value]


def test_the_log_of_a_run_is_stored_with_the_beat(store: Store) -> None:
    """A changed log is stored once more; a run without a line has no log."""
    shop = Workshop(store)
    ids = [enqueued(store) for _ in range(2)]
    worker = shop.worker(holding=True)
    worker.turn()
    fence = worker.hands.runs[ids[0]].execution.fence
    worker.hands.logged[fence] = "one"

    worker.heal()

    [first] = store.run_logs(ids[0]).value
    assert (first.fence, first.text) == (fence, "one")
    worker.heal()
    assert store.run_logs(ids[0]).value == [first]
    worker.hands.logged[fence] = "one\ntwo"
    worker.heal()
    assert _texts(store, ids[0]) == ["one\ntwo"]
    assert _texts(store, ids[1]) == []


def test_a_run_that_has_ended_has_its_whole_log(store: Store) -> None:
    """However the run ended, and without a beat in between."""
    shop = Workshop(store)
    ids = [enqueued(store) for _ in range(2)]
    worker = shop.worker(holding=True)
    rows = {row.id: row for row in worker.turn()}
    for row in rows.values():
        worker.hands.logged[row.fence] = f"all of {row.id}"

    worker.hands.end(rows[ids[0]])
    worker.hands.end(rows[ids[1]], Ended.FAILED, error="ValueError: no")
    worker.settle()

    assert read(store, ids[0]).state is State.SUCCEEDED
    assert [_texts(store, each) for each in ids] == [[f"all of {each}"] for each in ids]


def test_a_worker_that_lost_its_lease_still_stores_the_log_of_its_run(store: Store) -> None:
    """Beside the log of the run that took over."""
    shop = Workshop(store)
    work = enqueued(store)
    slow, other = shop.worker(holding=True), shop.worker(holding=True)
    [begun] = slow.turn()
    expire(store, slow.heartbeat.session)
    other.heal()
    hasten(store, work)
    [again] = other.turn()
    other.hands.logged[again.fence] = "second"
    other.heal()

    slow.hands.logged[begun.fence] = "first"
    slow.hands.end(begun)
    slow.settle()

    assert _texts(store, work) == ["first", "second"]
