"""URLs of stores: which one means which store, and what is said about the others."""

import sys
from pathlib import Path

import pytest

from sempre.errors import MissingExtra, StoreUnavailable
from sempre.urls import UrlError, masked, open_store


def test_memory_is_a_store_of_this_process() -> None:
    store = open_store("memory://")

    assert store.capabilities.durable is False
    assert store.sessions().value == []


def test_sqlite_is_a_file_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///some%20jobs.db")

    store.upgrade()
    store.close()

    assert (tmp_path / "some jobs.db").exists()


def test_four_slashes_are_a_whole_path(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/jobs.db?prefix=mine_")

    store.upgrade()
    store.close()

    assert (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/jobs?schema=mine",
        "mariadb://ann:s3cret@127.0.0.1:1/jobs?prefix=mine_",
        "redis://:s3cret@127.0.0.1:1/0",
    ],
)
def test_nothing_is_connected_before_it_is_used(url: str) -> None:
    open_store(url).close()


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    store = open_store("redis://:s3cret@127.0.0.1:1/0")

    with pytest.raises(StoreUnavailable) as refused:
        store.sessions()

    assert "s3cret" not in str(refused.value)
    store.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgres://host/db", "postgresql"),
        ("sqlite://jobs.db", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite:///jobs.db?prefx=a_", "prefix"),
        ("memory://?prefix=a", "no options"),
        ("mysql://ann:s3cret@host/db", "sqlite://"),
        ("jobs.db", "sqlite:///jobs.db"),
        ("", "sqlite:///jobs.db"),
    ],
)
def test_a_wrong_url_says_what_is_right(url: str, told: str) -> None:
    with pytest.raises(UrlError) as refused:
        open_store(url)

    assert told in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "sempre.stores.sql.dialects.postgresql", raising=False)

    with pytest.raises(MissingExtra, match=r'pip install "sempre\[postgres\]"'):
        open_store("postgresql://127.0.0.1/jobs")


def test_a_password_is_not_shown() -> None:
    assert masked("redis://ann:s3cret@host:1/0") == "redis://ann:***@host:1/0"
    assert masked("sqlite:///jobs.db") == "sqlite:///jobs.db"
