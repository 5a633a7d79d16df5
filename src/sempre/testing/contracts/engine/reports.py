"""Contracts of reports: how far a run has come can be read while it runs."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.executor import Progress
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, expire, hasten


def test_how_far_a_run_has_come_is_told_with_the_beat(store: Store) -> None:
    """New progress is reported once; a job without progress has no report."""
    shop = Workshop(store)
    ids = [enqueued(store) for _ in range(2)]
    worker = shop.worker(holding=True)
    worker.turn()
    worker.hands.told[ids[0]] = Progress(3, 9, "half way")

    worker.heal()

    [first] = store.reports(ids).value
    assert (first.execution_id, first.done, first.total) == (ids[0], 3, 9)
    assert first.note == "half way"
    worker.heal()
    assert store.reports(ids).value == [first]
    worker.hands.told[ids[0]] = Progress(9, 9)
    worker.heal()
    assert [each.done for each in store.reports(ids).value] == [9]


def test_a_worker_that_lost_its_lease_reports_nothing_of_what_others_run(store: Store) -> None:
    """The new holder's report stands."""
    shop = Workshop(store)
    work = enqueued(store)
    slow, other = shop.worker(holding=True), shop.worker(holding=True)
    [begun] = slow.turn()
    expire(store, slow.heartbeat.session)
    other.heal()
    hasten(store, work)
    [again] = other.turn()
    other.hands.told[work] = Progress(5)
    other.heal()

    slow.hands.told[work] = Progress(1)
    slow.maintain()

    [report] = store.reports([work]).value
    assert (begun.id, again.id) == (work, work)
    assert (report.fence, report.done) == (again.fence, 5)
