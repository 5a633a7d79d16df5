"""`sempre switch off`, `on`, `list` and `pairs`: incidents, and what pairs have found."""

from collections.abc import Callable

import pytest

from sempre import Receipt
from sempre.domain.states import State
from tests.integration.cli.shop import Shop, lines


@pytest.fixture
def send(shop: Shop) -> Callable[[int], Receipt[int]]:
    """A job without a schedule, which workers know."""

    @shop.app.job
    def send(number: int) -> int:
        return number

    return send.enqueue


def test_switched_off_work_is_held_until_it_is_switched_on(
    shop: Shop, send: Callable[[int], Receipt[int]]
) -> None:
    stopped = lines(shop.cli("switch", "off", "job:send", "-m", "incident 42"))
    receipt = send(7)
    shop.work()
    row = receipt.execution

    assert stopped == ["ok job:send switched off"]
    assert row is not None
    assert (row.state, row.held_by) == (State.SCHEDULED, "job:send")
    [told] = shop.answer("switch", "list")["switches"]
    assert (told["name"], told["mode"], told["reason"]) == ("job:send", "hold", "incident 42")

    assert lines(shop.cli("switch", "on", "job:send")) == ["ok job:send switched on"]
    shop.work()
    assert receipt.wait() == 7
    assert shop.answer("switch", "list") == {"switches": []}


def test_work_that_a_switch_rejects_is_refused_and_counted(
    shop: Shop, send: Callable[[int], Receipt[int]]
) -> None:
    shop.answer("switch", "off", "job:send", "--reject", "--for", "2h", "-m", "incident 42")

    assert not send(7).created
    heading, row = lines(shop.cli("switch", "list"))
    assert heading.split() == ["NAME", "MODE", "UNTIL", "REJECTED", "BY", "REASON"]
    assert row.startswith("job:send  reject  ")
    assert "(in 120m)  1 " in row


def test_a_known_job_or_tag_is_switched_off_by_its_name(shop: Shop) -> None:
    assert shop.answer("switch", "off", "yearly", "-m", "x")["target"] == "tag:yearly"
    assert shop.answer("switch", "off", "fail", "-m", "x")["target"] == "job:fail"
    assert shop.answer("switch", "on", "fail")["did"] == "switched on"
    assert shop.answer("switch", "on", "fail")["did"] == "already on"


def test_an_unknown_name_is_not_switched_off(shop: Shop) -> None:
    result = shop.cli("switch", "off", "yearl", "-m", "x")

    assert result.exit_code == 2
    assert "Did you mean yearly?" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "arguments"),
    [
        ("kill", "switch off", ["fail", "-m", "x", "--for", "2h"]),
        ("revive", "switch on", ["fail"]),
        ("switches", "switch list", []),
    ],
)
def test_an_old_name_does_as_the_new_one_and_names_it(
    shop: Shop, old: str, new: str, arguments: list[str]
) -> None:
    before = shop.cli(old, *arguments)
    after = shop.cli(*new.split(), *arguments)

    assert before.exit_code == 0
    assert before.stderr.splitlines()[0] == (
        f"hint: `sempre {old}` is now `sempre {new}`; the next release removes the old name."
    )
    assert before.stdout.replace("switched on", "already on") == after.stdout.replace(
        "switched on", "already on"
    )


def test_pairs_tell_what_they_have_found(shop: Shop) -> None:
    @shop.app.job
    def create(number: int) -> None: ...

    @create.pair(every="5000 days", contract=lambda: [1, 9])
    def pending() -> list[int]:
        return [1, 2]

    shop.app.sync()
    assert shop.answer("pairs")["pairs"][0]["scanned_at"] is None
    shop.run("pair:create")

    [pair] = shop.answer("pairs")["pairs"]
    assert (pair["name"], pair["stale"], pair["failing"]) == ("pair:create", False, None)
    assert (pair["scan"]["found"], pair["scan"]["enqueued"]) == (2, 2)
    _, row = lines(shop.cli("pairs"))
    assert row.split()[:2] == ["!", "pair:create"]
    assert row.endswith("1 uncovered")
    problems = {each["code"]: each for each in shop.answer("status")["problems"]}
    assert problems["S602"]["names"] == ["pair:create"]


def test_a_pair_that_fails_says_why(shop: Shop) -> None:
    @shop.app.job
    def create(number: int) -> None: ...

    @create.pair(every="5000 days")
    def pending() -> list[int]:
        raise ConnectionError("no route")

    shop.app.sync()
    shop.run("pair:create")

    _, row = lines(shop.cli("pairs"))
    assert row.split()[0] == "x"
    assert "no route" in row
