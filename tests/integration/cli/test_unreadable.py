"""Commands on a store with a schedule that this process cannot read: the others go on."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.shop import Shop, lines


def _with_colour(rules: dict[str, Any]) -> dict[str, Any]:
    return rules | {"colour": "blue"}


def _on_mars(rules: dict[str, Any]) -> dict[str, Any]:
    return rules | {"grid": rules["grid"] | {"timezone": "Mars/Base"}}


@pytest.fixture
def newer(shop: Shop, tmp_path: Path) -> Shop:
    """A newer release has written a field into `leap`, and a zone of its own into `doomed`."""
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        for name, change in (("leap", _with_colour), ("doomed", _on_mars)):
            asked = "SELECT definition FROM sempre_schedules WHERE name = ?"
            [(text,)] = connection.execute(asked, (name,))
            told = json.dumps(change(json.loads(text)))
            write = "UPDATE sempre_schedules SET definition = ? WHERE name = ?"
            connection.execute(write, (told, name))
        connection.commit()
    return shop


def test_list_shows_what_cannot_be_read_by_name_and_goes_on(newer: Shop) -> None:
    result = newer.cli("list")

    rows = {line.split()[1]: line for line in lines(result)[1:]}
    assert rows.keys() == {"doomed", "hourly", "leap"}
    assert rows["leap"].startswith("?")
    assert "colour" in rows["leap"]
    answer = newer.answer("list")
    assert [each["name"] for each in answer["schedules"]] == ["doomed", "hourly"]
    assert [each["name"] for each in answer["unreadable"]] == ["leap"]


def test_status_names_what_cannot_be_read_and_why(newer: Shop) -> None:
    answer = newer.answer("status")

    [problem] = [each for each in answer["problems"] if each["code"] == "S203"]
    assert problem["names"] == ["doomed", "leap"]
    assert "Mars/Base" in answer["unreadable"]["doomed"]
    assert "colour" in answer["unreadable"]["leap"]
    assert "pip install --upgrade" in problem["advice"]
    assert newer.cli("status").exit_code == 1


def test_other_schedules_are_shown_and_operated_as_ever(newer: Shop) -> None:
    assert newer.cli("show", "hourly").exit_code == 0
    assert newer.cli("executions").exit_code == 0
    assert "hourly" in newer.cli("next").stdout
    assert newer.cli("reconcile").exit_code == 0
    assert newer.cli("pause", "hourly").exit_code == 0


def test_one_that_was_asked_for_is_an_error_with_the_remedy(newer: Shop) -> None:
    result = newer.cli("show", "leap")

    assert result.exit_code == 5
    assert "leap" in result.stderr
    assert "colour" in result.stderr
    assert "Upgrade Sempre and tzdata" in result.stderr
