import json

import pytest

from sempre.cli.layout import Column
from sempre.cli.output import VERSION, Output, inform, printable, table_lines

ROWS = [["*", "refresh_cache", "every 15m"], ["x", "bill", "failed"]]
COLUMNS = [Column(""), Column("NAME"), Column("WHEN", below=True)]


def test_a_piped_table_is_plain_columns_without_trailing_blanks() -> None:
    assert list(table_lines(COLUMNS, ROWS)) == [
        "   NAME           WHEN",
        "*  refresh_cache  every 15m",
        "x  bill           failed",
    ]


def test_a_table_without_rows_has_its_headings() -> None:
    assert list(table_lines(COLUMNS, [])) == ["  NAME  WHEN"]


def test_piped_output_has_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(COLUMNS, ROWS)

    assert "\x1b" not in capsys.readouterr().out


def test_forced_colour_colours_what_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    Output().table(COLUMNS, ROWS)
    Output().line("failed bill")

    assert capsys.readouterr().out.count("\x1b[31m") == 3


def test_no_color_wins_over_forced_colour(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")

    Output().line("failed bill")

    assert capsys.readouterr().out == "failed bill\n"


def test_json_is_one_versioned_object(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).json({"name": "è"})

    assert json.loads(capsys.readouterr().out) == {"v": VERSION, "name": "è"}


def test_messages_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    inform("3 schedules.")

    assert capsys.readouterr() == ("", "3 schedules.\n")


def test_what_a_job_raised_cannot_write_to_the_terminal() -> None:
    assert printable("\x1b[2Jgone\r\n") == "\\x1b[2Jgone\\r\n"


def test_a_cell_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(["WHY"], [["one\ntwo"]])

    assert capsys.readouterr().out == "WHY\none two\n"


def test_utc_is_shown_where_it_is_asked_for() -> None:
    assert Output(utc=True).zone("Europe/Rome") == "UTC"
    assert Output().zone("Europe/Rome") == "Europe/Rome"


def test_a_table_wider_than_the_terminal_has_rows_of_two_lines() -> None:
    lines = table_lines(COLUMNS, ROWS, width=20)

    assert list(lines) == [
        "   NAME",
        "*  refresh_cache",
        "   every 15m",
        "x  bill",
        "   failed",
    ]


def test_a_table_that_fits_the_terminal_has_rows_of_one_line() -> None:
    assert len(list(table_lines(COLUMNS, ROWS, width=27))) == 3


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    _, wide, narrow = table_lines([Column("NAME"), Column("WHY")], [["請求書", "a"], ["bill", "b"]])

    assert (wide, narrow) == ("請求書  a", "bill    b")
