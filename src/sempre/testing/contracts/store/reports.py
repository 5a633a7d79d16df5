"""Contracts of reports: how far a run has come, as its worker last reported."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.execution import Execution
from sempre.domain.values import copy_with
from sempre.ports.messages import Report
from sempre.ports.retention import Purge
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    enqueued,
    expire,
    hasten,
    new_id,
    now_of,
    read,
    rescued,
    session_of,
    succeed,
    wanted,
)


def _running(store: Store, session: str) -> Execution:
    enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    return row


def _told(store: Store, *rows: Execution) -> list[Report]:
    return store.reports([row.id for row in rows]).value


def test_a_report_is_kept_as_it_was_told(store: Store) -> None:
    """With the store's now; runs without a report and unknown ids are left out."""
    session = session_of(store)
    first, second, silent = (_running(store, session) for _ in range(3))
    reports = [
        Report(first.id, first.fence, 2**53 + 1, 2**60, "così ✓ 'quoted'\n"),
        Report(second.id, second.fence, 0.5),
    ]
    before = now_of(store)

    store.report(reports, session=session)

    found = store.reports([second.id, silent.id, new_id(), first.id, first.id])
    times = [each.reported_at for each in found.value]
    assert all(at is not None and before <= at <= found.now for at in times)
    plain = [copy_with(each, reported_at=None) for each in found.value]
    assert plain == sorted(reports, key=lambda each: each.execution_id)
    assert _told(store, silent) == []
    assert store.reports([]).value == []


def test_the_last_report_counts(store: Store) -> None:
    """A report changes nothing else; an empty report is accepted."""
    session = session_of(store)
    row = _running(store, session)

    for done in (1, 2, 3):
        store.report([Report(row.id, row.fence, done, 3)], session=session)
    store.report([], session=session)

    assert [each.done for each in _told(store, row)] == [3]
    assert read(store, row.id) == row


def test_a_report_of_a_claim_that_is_lost_is_dropped(store: Store) -> None:
    """The lease is over, another session claimed the execution, or the claim is another's."""
    session, other = session_of(store), session_of(store)
    row = _running(store, session)
    store.report([Report(row.id, row.fence, 1)], session=session)

    store.report([Report(row.id, row.fence, 2)], session=other)
    store.report([Report(row.id, row.fence + 1, 3)], session=session)
    store.report([Report(new_id(), row.fence, 4)], session=session)
    expire(store, session)
    store.report([Report(row.id, row.fence, 5)], session=session)
    rescued(store, row.id)
    hasten(store, row.id)
    [again] = store.claim_one_off(wanted(), session=other).value
    store.report([Report(row.id, row.fence, 6)], session=session)

    assert [(each.fence, each.done) for each in _told(store, row)] == [(row.fence, 1)]
    store.report([Report(row.id, again.fence, 7)], session=other)
    assert [(each.fence, each.done) for each in _told(store, row)] == [(again.fence, 7)]


def test_a_report_stays_when_its_run_is_over(store: Store) -> None:
    """The report shows the last progress; later reports are dropped."""
    session = session_of(store)
    row = _running(store, session)
    store.report([Report(row.id, row.fence, 1)], session=session)
    succeed(store, row)

    store.report([Report(row.id, row.fence, 2)], session=session)

    assert [each.done for each in _told(store, row)] == [1]


def test_a_report_goes_with_its_execution(store: Store) -> None:
    """A purge deletes the report too."""
    session = session_of(store, lease=LEASE)
    row = _running(store, session)
    store.report([Report(row.id, row.fence, 1)], session=session)
    succeed(store, row)

    assert store.purge(Purge(before=now_of(store) + HOUR, limit=10, keep=0)).count == 1

    assert _told(store, row) == []
