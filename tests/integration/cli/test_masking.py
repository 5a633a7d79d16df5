"""What the command line shows has no secrets, though the store holds exact values."""

from decimal import Decimal
from pathlib import Path

import pytest

from sempre import Cron, Sempre
from sempre.domain.arguments import Json
from tests.integration.cli.shop import Shop, lines
from tests.unit.cli.commands import sempre

NEVER = Cron("0 3 29 2 *")
SECRET = "hunter2"  # noqa: S105 - it is hunted for below


@pytest.fixture
def secretive(tmp_path: Path) -> Shop:
    """A schedule with a secret argument, that returns or raises it."""
    url = f"sqlite:///{tmp_path / 'secrets.db'}"
    app = Sempre(url)

    @app.job
    def login(password: str, iban: str, dsn: str, ends: str) -> Json:
        if ends == "raise":
            raise ValueError(f"no login: password={password}, {dsn}")
        return {"Access-Token": password, "iban": iban, "dsn": dsn, "primary_key": 7}

    args = {"password": SECRET, "iban": "IT60", "dsn": f"postgresql://ann:{SECRET}@db/x"}
    app.add("good", NEVER, login.bind(ends="return", **args))
    app.add("bad", NEVER, login.bind(ends="raise", **args))
    app.sync()
    return Shop(app, url)


def test_no_command_shows_a_secret_and_the_store_holds_it_exactly(secretive: Shop) -> None:
    good, bad = secretive.run("good", "bad")

    [attempt] = secretive.app.engine.store.attempts(good).value
    assert isinstance(attempt.result, dict)
    assert attempt.result["Access-Token"] == SECRET
    for command in (
        ["list"],
        ["show", "good"],
        ["show", "bad"],
        ["executions"],
        ["execution", good],
        ["execution", bad],
        ["status"],
    ):
        for form in ([], ["--json"]):
            shown = secretive.cli(*command, *form)
            assert SECRET not in shown.stdout + shown.stderr, command


def test_what_is_no_secret_is_shown(secretive: Shop) -> None:
    [good] = secretive.run("good")

    [attempt] = secretive.answer("execution", good)["execution"]["attempts"]

    masked = {"Access-Token": "[redacted]", "dsn": "postgresql://ann:[redacted]@db/x"}
    assert attempt["result"] == {**masked, "iban": "IT60", "primary_key": 7}


def test_further_names_come_from_the_environment(secretive: Shop) -> None:
    [good] = secretive.run("good")

    for command in (["show", "good"], ["execution", good], ["list", "--json"]):
        shown = sempre(*command, SEMPRE_STORE=secretive.url, SEMPRE_REDACT="IBAN, card_*")
        assert shown.exit_code == 0
        assert "IT60" not in shown.stdout


def test_names_that_a_job_or_its_application_redacts_are_masked_in_arguments(
    tmp_path: Path,
) -> None:
    """The command line imports no code: the rows carry these names."""
    url = f"sqlite:///{tmp_path / 'payments.db'}"
    app = Sempre(url, redact=["pin"])
    shop = Shop(app, url)
    paid: list[str] = []

    @app.job(redact=["iban"])
    def pay(iban: str, pin: str) -> None:
        paid.append(f"{iban} {pin}")

    app.add("monthly", NEVER, pay.bind(iban="IT60", pin="0815"))
    app.sync()
    single = pay.enqueue("IT60", "0815").id
    [slot] = shop.run("monthly")

    assert paid == ["IT60 0815"] * 2
    for command in (["show", "monthly"], ["execution", single], ["execution", slot], ["list"]):
        for form in ([], ["--json"]):
            shown = shop.cli(*command, *form)
            assert "IT60" not in shown.stdout, command
            assert "0815" not in shown.stdout, command
    assert shop.answer("execution", slot)["execution"]["args"] == {
        "iban": "[redacted]",
        "pin": "[redacted]",
    }


def test_a_result_that_is_no_json_is_shown_as_its_repr(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bills.db'}"
    shop = Shop(Sempre(url), url)
    shop.app.add("bill", NEVER, lambda: Decimal("99.90"))
    shop.app.add("export", NEVER, lambda: "x" * 99_998)
    shop.app.sync()
    bill, export = shop.run("bill", "export")

    assert lines(shop.cli("execution", bill))[-1].endswith("succeeded  Decimal('99.90')")
    assert lines(shop.cli("execution", export))[-1].endswith(
        "succeeded  (not stored: 100,000 bytes, limit 65,536)"
    )
    [attempt] = shop.answer("execution", bill)["execution"]["attempts"]
    assert attempt["result"] == {
        "$sempre": "repr",
        "type": "decimal.Decimal",
        "text": "Decimal('99.90')",
    }
