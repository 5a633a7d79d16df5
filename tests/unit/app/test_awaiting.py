"""A worker waits for a store that is down, and not for one that refuses."""

import os
import sqlite3
from pathlib import Path

import pytest

from sempre.app.awaiting import Insistence, asked_within
from sempre.app.wishes import Wishes
from sempre.clock import SystemClock
from sempre.errors import StoreRefused
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite

CLOCK = SystemClock()


def test_the_rests_between_tries_grow_until_the_store_is_there(tmp_path: Path) -> None:
    rests: list[float] = []
    folder = tmp_path / "not mounted yet"

    def asked(seconds: float) -> bool:
        rests.append(seconds)
        if len(rests) == 7:
            folder.mkdir()
        return False

    assert Insistence(f"sqlite:///{folder / 'jobs.db'}", clock=CLOCK, asked=asked).await_store()
    assert rests == [1, 2, 4, 8, 16, 30, 30]


def test_whoever_is_asked_to_stop_waits_no_longer(tmp_path: Path) -> None:
    nowhere = f"sqlite:///{tmp_path / 'nowhere' / 'jobs.db'}"

    assert not Insistence(nowhere, clock=CLOCK, asked=lambda _: True).await_store()


def test_the_line_in_the_log_names_the_store_without_its_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Insistence("redis://:hunter2@127.0.0.1:1", clock=CLOCK, asked=lambda _: True).await_store()

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
        Insistence(
            f"sqlite:///{tmp_path / 'jobs.db'}", clock=CLOCK, asked=lambda _: True
        ).await_store()


def test_a_store_that_has_accepted_a_worker_before_is_waited_for_though_it_refuses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Rights may be withdrawn, and granted again."""
    answers: list[StoreRefused | None] = [StoreRefused("no right"), StoreRefused("no right"), None]

    def attempt() -> None:
        if answer := answers.pop(0):
            raise answer

    accepted = bytearray([1])
    insist = Insistence("redis://host", clock=CLOCK, asked=lambda _: False, accepted=accepted)

    assert insist(attempt)
    assert answers == []
    assert caplog.text.count("no right") == 2


def test_a_wait_ends_with_a_wish_or_with_whoever_held_the_leash() -> None:
    wishes, leash = Wishes(), os.pipe()

    assert not asked_within(0.001, wishes, leash[0])
    os.close(leash[1])
    assert asked_within(3600, wishes, leash[0])
    wishes.make()
    assert asked_within(3600, wishes, None)
    os.close(leash[0])
