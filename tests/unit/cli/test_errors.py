import json

import pytest

from sempre.cli.errors import ExitCode, failure_of
from sempre.cli.output import Output
from sempre.errors import (
    BrokenGrid,
    BrokerUnavailable,
    Contended,
    InstantError,
    MissingExtra,
    NotFound,
    Refused,
    SempreError,
    StoreGone,
    StoreRefused,
    StoreUnavailable,
    UnknownGrid,
    UnreadableRow,
)
from tests.unit.cli.commands import sempre


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SempreError("something"), 1),
        (InstantError("until", "x", allowed="an instant"), 2),
        (StoreUnavailable("down"), 3),
        (StoreRefused("newer"), 3),
        (BrokerUnavailable("down"), 3),
        (MissingExtra("psycopg", extra="postgres"), 3),
        (NotFound("schedule", "bil"), 4),
        (Refused("paused"), 5),
        (Contended("others"), 5),
        (UnknownGrid("tides", known=()), 5),
        (BrokenGrid("backwards"), 5),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error: SempreError, code: int) -> None:
    assert failure_of(error).code == code


def test_what_was_not_found_names_the_command_that_lists_it() -> None:
    assert failure_of(NotFound("schedule", "bil")).advice == "sempre list"
    assert failure_of(NotFound("execution", "1")).advice == "sempre executions"
    assert failure_of(NotFound("next slot of", "bill")).advice == "sempre show bill"


def test_what_is_wrong_with_a_store_names_what_helps() -> None:
    assert failure_of(StoreGone("not set up")).advice == "sempre db upgrade"
    assert failure_of(StoreRefused("it says itself what to do")).advice == ""
    assert failure_of(StoreUnavailable("down")).advice == "sempre db status"
    assert failure_of(UnreadableRow("newer")).advice == "pip install --upgrade sempre tzdata"


def test_an_error_cannot_steer_the_terminal() -> None:
    result = sempre("show", "\x1b[2J\x9b\u202e\u2066", "--store", "sqlite:///x\x1b.db")
    wrong = sempre("preview", "\x1b[2J\x9b\u202e\u2066")

    for shown in (result, wrong):
        assert shown.exit_code == ExitCode.USAGE
        assert shown.stderr.replace("\n", "").isprintable()
    assert "\\x1b[2J\\x9b\\u202e\\u2066" in wrong.stderr


def test_json_on_stdout_has_no_raw_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    told = "\x1b[2J\x9b\x7f\u202e\u2066\u2028\udc80\U000e0001 caffè"

    Output(as_json=True).json({"note": told})

    printed = capsys.readouterr().out.removesuffix("\n")
    assert printed.isprintable()
    assert "caffè" in printed
    assert json.loads(printed)["note"] == told


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (StoreUnavailable("down"), "sempre db status"),
        (StoreGone("empty"), "sempre db upgrade"),
        (StoreRefused("no log; accept it with ?allow_no_aof=1"), ""),
    ],
)
def test_what_a_store_says_decides_what_to_try(error: SempreError, advice: str) -> None:
    assert failure_of(error).advice == advice


def test_an_unknown_command_names_the_nearest_one() -> None:
    result = sempre("lst")

    assert result.exit_code == ExitCode.USAGE
    assert result.stdout == ""
    assert result.stderr == 'error: no command "lst". Did you mean list?\n  try: sempre --help\n'


def test_an_unknown_option_names_the_help_of_its_command() -> None:
    result = sempre("preview", "@daily", "--zone", "UTC")

    assert result.exit_code == ExitCode.USAGE
    assert result.stderr.startswith("error: no such option")
    assert result.stderr.endswith("  try: sempre preview --help\n")


@pytest.mark.parametrize("arguments", [[], ["db"]])
def test_a_group_alone_shows_its_help(arguments: list[str]) -> None:
    result = sempre(*arguments)

    assert result.exit_code == ExitCode.USAGE
    assert result.output.startswith("Usage: sempre")
    assert "error" not in result.output


def test_a_missing_argument_is_a_usage_error() -> None:
    assert sempre("preview").exit_code == ExitCode.USAGE
