"""Edit, rename and delete: what they change, what they say, how they refuse."""

import pytest

from sempre import Cron, Every
from sempre.errors import NotFound
from tests.integration.cli.shop import Shop, lines


def test_edit_changes_the_rule_and_keeps_the_zone(shop: Shop) -> None:
    [line] = lines(shop.cli("edit", "hourly", "--cron", "30 4 * * *"))

    assert line.startswith("edited hourly: ")
    assert shop.app.schedule("hourly").definition.grid == Cron("30 4 * * *", timezone="Asia/Tokyo")


def test_edit_changes_the_zone_and_keeps_the_rule(shop: Shop) -> None:
    lines(shop.cli("edit", "leap", "--timezone", "America/Lima"))

    assert shop.app.schedule("leap").definition.grid == Cron("0 3 29 2 *", timezone="America/Lima")


def test_edit_puts_a_schedule_on_an_interval(shop: Shop) -> None:
    lines(shop.cli("edit", "leap", "--every", "2h", "--anchor", "2026-01-01 00:30"))

    grid = shop.app.schedule("leap").definition.grid
    assert grid == Every("2h", anchor="2026-01-01 00:30", timezone="Europe/Rome")


def test_edit_of_policies(shop: Shop) -> None:
    answer = shop.answer("edit", "leap", "--timeout", "5m", "--retry", "3", "--catch-up")

    definition = shop.app.schedule("leap").definition
    assert answer["changed"]
    assert (definition.retry.limit, definition.catch_up) == (3, True)
    lines(shop.cli("edit", "leap", "--timeout", "none", "--tag", "a", "--tag", "b"))
    definition = shop.app.schedule("leap").definition
    assert (definition.timeout, definition.tags) == (None, ("a", "b"))


def test_an_edit_that_changes_nothing_says_so(shop: Shop) -> None:
    assert lines(shop.cli("edit", "leap", "--priority", "1000"))[0].startswith("unchanged leap: ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to change was named."),
        (["--cron", "61 * * * *"], 2, "61"),
        (["--timezone", "Europe/Roma"], 2, "Europe/Roma"),
        (["--cron", "0 1 * * *", "--every", "1h"], 2, "either cron or every"),
        (["--overlap", "sometimes"], 2, "sometimes"),
        (["--args", "7"], 2, "--args is no JSON object"),
    ],
)
def test_bad_edits_are_named(shop: Shop, arguments: list[str], code: int, message: str) -> None:
    before = shop.app.schedule("leap").row

    result = shop.cli("edit", "leap", *arguments)

    assert result.exit_code == code
    assert message in result.stderr
    assert shop.app.schedule("leap").row == before


def test_a_declared_schedule_is_renamed_in_its_code(shop: Shop) -> None:
    result = shop.cli("rename", "leap", "jump")

    assert result.exit_code == 5
    assert "leap is declared by code; rename it there" in result.stderr


def test_rename_keeps_the_history(shop: Shop) -> None:
    @shop.app.job
    def once() -> None: ...

    shop.app.put_schedule("temporary", Cron("0 3 29 2 *"), once)
    [identity] = shop.run("temporary")

    assert lines(shop.cli("rename", "temporary", "lasting", "-m", "it stays")) == [
        "ok temporary is now lasting"
    ]

    assert identity in [row.id for row in shop.app.executions(schedule="lasting")]
    assert shop.cli("show", "temporary").exit_code == 4
    taken = shop.cli("rename", "lasting", "leap")
    assert taken.exit_code == 5
    assert 'there is a schedule "leap" already' in taken.stderr


def test_delete_asks_and_warns_of_code_that_declares_the_schedule(shop: Shop) -> None:
    refused = shop.cli("delete", "leap")

    assert refused.exit_code == 5
    assert "confirm with --yes" in refused.stderr
    assert "code declares leap" in refused.stderr

    assert lines(shop.cli("delete", "leap", "hourly", "--yes", "-m", "gone")) == [
        "ok deleted leap",
        "ok deleted hourly",
    ]
    with pytest.raises(NotFound):
        _ = shop.app.schedule("leap").row


def test_delete_of_an_unknown_schedule_deletes_none(shop: Shop) -> None:
    result = shop.cli("delete", "leap", "nope", "--yes")

    assert result.exit_code == 4
    assert shop.app.schedule("leap").row.name == "leap"
