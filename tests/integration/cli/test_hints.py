"""What a failed command tells to try is what helps, for each cause."""

import sqlite3
from pathlib import Path

import pytest

from tests.integration.cli.shop import Shop
from tests.unit.cli.commands import sempre


def set_version(shop: Shop, version: int) -> None:
    connection = sqlite3.connect(shop.url.removeprefix("sqlite:///"))
    connection.execute("UPDATE sempre_meta SET version = ?", (version,))
    connection.commit()
    connection.close()


@pytest.mark.parametrize("command", [("list",), ("db", "status"), ("db", "upgrade")])
def test_a_schema_that_is_too_new_wants_a_newer_sempre(
    shop: Shop, command: tuple[str, ...]
) -> None:
    set_version(shop, 999)

    result = shop.cli(*command)

    assert result.exit_code in (1, 3)
    assert "pip install --upgrade sempre" in result.output
    assert "try: sempre db upgrade" not in result.output


@pytest.mark.parametrize("command", [("list",), ("db", "status")])
def test_a_schema_that_is_too_old_wants_an_upgrade(shop: Shop, command: tuple[str, ...]) -> None:
    set_version(shop, 0)

    result = shop.cli(*command)

    assert result.exit_code in (1, 3)
    assert "sempre db upgrade" in result.output


@pytest.mark.parametrize("command", [("list",), ("db", "status")])
def test_a_file_that_is_no_store_wants_no_upgrade(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "notes.db").write_text("these are notes, and no database" * 100)

    result = sempre(*command, "--store", "sqlite:///notes.db")

    assert result.exit_code in (1, 3)
    assert "not a database" in result.output
    assert "db upgrade" not in result.output


@pytest.mark.parametrize("command", [("list",), ("db", "status")])
def test_a_store_that_is_not_set_up_wants_an_upgrade(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "empty.db").touch()

    result = sempre(*command, "--store", "sqlite:///empty.db")

    assert result.exit_code in (1, 3)
    assert "try: sempre db upgrade --store sqlite:///empty.db" in result.output


def test_a_server_that_does_not_answer_is_not_asked_to_be_asked_again() -> None:
    result = sempre("db", "status", "--store", "redis://127.0.0.1:1")

    assert result.exit_code == 3
    assert "try:" not in result.output


def test_a_schedule_without_a_next_slot_is_shown(shop: Shop) -> None:
    shop.cli("disable", "leap")

    result = shop.cli("skip", "leap")

    assert result.exit_code == 4
    assert "  try: sempre show leap\n" in result.stderr
