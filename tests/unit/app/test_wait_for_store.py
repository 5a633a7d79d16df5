"""A worker waits for a store that is down, and not for one that refuses."""

import os
import sqlite3
from pathlib import Path

import pytest

from sempre.app.process.signals import StopRequests
from sempre.app.process.wait_for_store import StoreRetry, is_stopped_within
from sempre.clock import SystemClock
from sempre.errors import StoreRefused
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite

CLOCK = SystemClock()


def test_the_rests_between_tries_grow_until_the_store_is_there(tmp_path: Path) -> None:
    rests: list[float] = []
    folder = tmp_path / "not mounted yet"

    def is_stopped(seconds: float) -> bool:
        rests.append(seconds)
        if len(rests) == 7:
            folder.mkdir()
        return False

    assert StoreRetry(
        f"sqlite:///{folder / 'jobs.db'}", clock=CLOCK, is_stopped=is_stopped
    ).wait_for_store()
    assert rests == [1, 2, 4, 8, 16, 30, 30]


def test_whoever_is_asked_to_stop_waits_no_longer(tmp_path: Path) -> None:
    nowhere = f"sqlite:///{tmp_path / 'nowhere' / 'jobs.db'}"

    assert not StoreRetry(nowhere, clock=CLOCK, is_stopped=lambda _: True).wait_for_store()


def test_the_line_in_the_log_names_the_store_without_its_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    StoreRetry(
        "redis://:hunter2@127.0.0.1:1", clock=CLOCK, is_stopped=lambda _: True
    ).wait_for_store()

    [record] = caplog.records
    assert "the store redis://127.0.0.1:1 does not answer" in record.getMessage()
    assert "hunter2" not in caplog.text


def test_a_store_that_refuses_is_not_waited_for(tmp_path: Path) -> None:
    store = SqlStore(Sqlite(tmp_path / "jobs.db"))
    store.upgrade()
    store.close()
    connection = sqlite3.connect(tmp_path / "jobs.db")
    connection.execute("UPDATE sempre_meta SET version = 999")
    connection.commit()
    connection.close()

    with pytest.raises(StoreRefused, match="version 999"):
        StoreRetry(
            f"sqlite:///{tmp_path / 'jobs.db'}", clock=CLOCK, is_stopped=lambda _: True
        ).wait_for_store()


def test_a_store_that_has_accepted_a_worker_before_is_waited_for_though_it_refuses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Rights may be withdrawn, and granted again."""
    answers: list[StoreRefused | None] = [StoreRefused("no right"), StoreRefused("no right"), None]

    def attempt() -> None:
        if answer := answers.pop(0):
            raise answer

    accepted = bytearray([1])
    retry = StoreRetry("redis://host", clock=CLOCK, is_stopped=lambda _: False, accepted=accepted)

    assert retry.retry(attempt)
    assert answers == []
    assert caplog.text.count("no right") == 2


def test_a_wait_ends_with_a_stop_request_or_with_the_parent() -> None:
    requests, pipe = StopRequests(), os.pipe()

    assert not is_stopped_within(0.001, requests, pipe[0])
    os.close(pipe[1])
    assert is_stopped_within(3600, requests, pipe[0])
    requests.add()
    assert is_stopped_within(3600, requests, None)
    os.close(pipe[0])
