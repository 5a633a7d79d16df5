"""Contracts of the logs of runs: what a job wrote by `logging`, as its worker last stored it."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.execution import Execution
from sempre.domain.run_log import LARGEST_LOG
from sempre.domain.values import copy_with
from sempre.ports.retention import Purge
from sempre.ports.run_logs import RunLog
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    at_once,
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

NASTY = (
    "così ✓ 🚀 'quoted' \"twice\" \\ % %(name)s {brace} :word\n  indented\r\x1b[31m\t\u2028 end "
)


def _running(store: Store, session: str) -> Execution:
    enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    return row


def _log(row: Execution, text: str) -> RunLog:
    return RunLog(row.id, row.fence, text)


def _texts(store: Store, row: Execution) -> list[tuple[int, str]]:
    return [(each.fence, each.text) for each in store.run_logs(row.id).value]


def test_a_log_is_read_as_it_was_written(store: Store) -> None:
    """With the store's now; an execution without a log and an unknown one have none."""
    session = session_of(store)
    first, second, silent = (_running(store, session) for _ in range(3))
    before = now_of(store)

    store.write_logs([_log(first, NASTY), _log(second, "one line")], session=session)
    store.write_logs([], session=session)

    found = store.run_logs(first.id)
    [log] = found.value
    assert copy_with(log, written_at=None) == _log(first, NASTY)
    assert log.written_at is not None
    assert before <= log.written_at <= found.now
    assert _texts(store, second) == [(second.fence, "one line")]
    assert store.run_logs(silent.id).value == []
    assert store.run_logs(new_id()).value == []
    assert read(store, first.id) == first


def test_a_log_takes_the_place_of_the_earlier_text_of_its_run(store: Store) -> None:
    """Also within one batch: the last text counts."""
    session = session_of(store)
    row = _running(store, session)
    store.write_logs([_log(row, "one")], session=session)

    store.write_logs([_log(row, "one\ntwo"), _log(row, "one\ntwo\nthree")], session=session)

    assert _texts(store, row) == [(row.fence, "one\ntwo\nthree")]


def test_a_log_is_accepted_after_its_run_has_ended(store: Store) -> None:
    """The last lines of a run may come after a settlement that its worker repeated."""
    session = session_of(store)
    row = _running(store, session)
    succeed(store, row)

    store.write_logs([_log(row, "the whole log")], session=session)

    assert _texts(store, row) == [(row.fence, "the whole log")]


def test_every_run_of_an_execution_has_its_own_log(store: Store) -> None:
    """The log of a lost run is accepted while another session runs the execution, and after."""
    session, other = session_of(store), session_of(store)
    row = _running(store, session)
    store.write_logs([_log(row, "first")], session=session)
    expire(store, session)
    rescued(store, row.id)

    store.write_logs([_log(row, "first, while it waits")], session=session)
    waiting = _texts(store, row)
    hasten(store, row.id)
    [again] = store.claim_one_off(wanted(), session=other).value
    store.write_logs([_log(again, "second")], session=other)
    store.write_logs([_log(row, "first, and late")], session=session)

    assert waiting == [(row.fence, "first, while it waits")]
    assert _texts(store, row) == [(row.fence, "first, and late"), (again.fence, "second")]


def test_a_log_under_a_fence_that_the_session_never_held_is_dropped(store: Store) -> None:
    """The execution is another session's, was never claimed under the fence, or is unknown."""
    session, other = session_of(store), session_of(store)
    row = _running(store, session)
    enqueued(store)

    store.write_logs([_log(row, "not mine")], session=other)
    store.write_logs([RunLog(row.id, row.fence + 1, "to come")], session=session)
    store.write_logs([RunLog(new_id(), row.fence, "unknown")], session=session)

    assert _texts(store, row) == []


def test_a_batch_of_the_largest_logs_is_stored(store: Store) -> None:
    """A server that limits the size of a statement gets several statements."""
    session = session_of(store)
    rows = [_running(store, session) for _ in range(8)]
    texts = [letter * (LARGEST_LOG // len(letter.encode())) for letter in "a'\\\nèé✓🚀"]

    store.write_logs(list(map(_log, rows, texts)), session=session)

    for row, text in zip(rows, texts, strict=True):
        assert _texts(store, row) == [(row.fence, text)]


def test_logs_that_are_written_at_once_are_all_there(store: Store) -> None:
    """Several workers write in any order of executions."""
    sessions = [session_of(store) for _ in range(4)]
    rows = {session: [_running(store, session) for _ in range(3)] for session in sessions}

    def write(session: str, *, backwards: bool) -> None:
        logs = [_log(row, row.id) for row in rows[session]]
        store.write_logs(logs[::-1] if backwards else logs, session=session)

    at_once(
        *(
            lambda each=session, turned=backwards: write(each, backwards=turned)
            for session in sessions
            for backwards in (False, True)
        )
    )

    for own in rows.values():
        assert [_texts(store, row) for row in own] == [[(row.fence, row.id)] for row in own]


def test_a_purge_deletes_the_logs_of_an_execution(store: Store) -> None:
    """A log that comes later is dropped; the log of another execution stays."""
    session = session_of(store)
    row, other = _running(store, session), _running(store, session)
    store.write_logs([_log(row, "gone"), _log(other, "stays")], session=session)
    succeed(store, row)

    assert store.purge(Purge(before=now_of(store) + HOUR, limit=10)).count == 1
    store.write_logs([_log(row, "too late")], session=session)

    assert _texts(store, row) == []
    assert _texts(store, other) == [(other.fence, "stays")]
