"""The form of an edit reads back what it shows, and only what a visitor changed."""

from datetime import timedelta

import pytest

from sempre.domain.definition import Definition, define
from sempre.errors import InvalidInput
from sempre.grids import Cron, Every
from sempre.web.edit_form import edit_options, texts_of


def declared(**given: object) -> Definition:
    return define(job="bill", grid=Cron("0 2 * * *", timezone="Europe/Rome"), **given)


@pytest.mark.parametrize(
    "length", ["1s", "90s", "1m", "90m", "2h", "36h", "3d", "1.5s", timedelta(seconds=9001)]
)
def test_a_length_of_time_is_read_back_exactly(length: str | timedelta) -> None:
    before = declared(timeout=length)

    text = texts_of(before)["timeout"]

    assert before.edited(timeout=text).timeout == before.timeout


def test_an_interval_is_read_back() -> None:
    grid = Every("2 weeks", anchor="2026-01-05 09:00", timezone="Europe/Rome")
    texts = texts_of(define(job="bill", grid=grid))

    assert Every(texts["every"], anchor=texts["anchor"], timezone=texts["timezone"]) == grid


def test_only_changed_texts_are_changes() -> None:
    before = declared(tags=["a"], deadline="1h")
    was = texts_of(before)

    assert edit_options(was, was, before, ()) == {}
    given = was | {"deadline": "", "tags": "b, c"}
    assert edit_options(given, was, before, ()) == {"deadline": None, "tags": ["b", "c"]}


def test_a_masked_value_keeps_what_is_stored_at_any_depth() -> None:
    args = {"to": {"password": "hunter2", "host": "a"}, "count": 1}
    before = declared(args=args)
    was = texts_of(before)
    given = was | {"args": was["args"].replace('"a"', '"b"').replace(": 1", ": 2")}

    found = edit_options(given, was, before, ())

    assert "hunter2" not in was["args"]
    assert found == {"args": {"to": {"password": "hunter2", "host": "b"}, "count": 2}}


def test_a_schedule_needs_one_rule() -> None:
    before = declared()
    was = texts_of(before)

    with pytest.raises(InvalidInput, match="cron"):
        edit_options(was | {"cron": ""}, was, before, ())
