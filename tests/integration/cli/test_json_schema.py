"""What commands print with `--json` keeps the schema on the documentation page."""

import pytest
from jsonschema import ValidationError

from sempre import Cron
from sempre.testing.contracts.store.builders import claimed, session_of
from tests.integration.cli.schema import COMMANDS, check
from tests.integration.cli.shop import Shop

WORDS = {
    "show": ["show", "leap"],
    "next": ["next", "-n", "3"],
    "executions": ["executions", "--until", "2100-01-01", "--state", "missed", "--state", "failed"],
    "status": ["status"],
    "workers drain": ["workers", "drain", "--all"],
    "init": ["init", "made"],
    "log": ["log"],
    "edit": ["edit", "leap", "--priority", "7"],
    "rename": ["rename", "spare", "other"],
    "delete": ["delete", "leap", "--yes"],
    "enqueue": ["enqueue", "leap", "--in", "1h"],
    "cancel": ["cancel", "--state", "running", "--yes"],
    "web hash": ["web", "hash", "--password", "right"],
}
FOLLOWS = {"executions --follow"}
"""Commands without an end; their own tests check them."""


def busy(shop: Shop) -> str:
    """Leave a failure, a run and a worker in a store; return the id of the failure."""
    _, failed = shop.run("leap", "doomed")
    store = shop.app.engine.store
    claimed(store, shop.app.schedule("hourly").trigger().id, session_of(store))
    shop.cli("pause", "hourly", "--until", "2h", "-m", "why")

    @shop.app.job
    def spare() -> None: ...

    shop.app.put_schedule("spare", Cron("0 3 29 2 *"), spare)
    return failed


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in FOLLOWS])
def test_an_answer_keeps_the_schema(shop: Shop, command: str) -> None:
    failed = busy(shop)
    words = WORDS.get(command, command.split())
    if command == "execution":
        words = ["execution", failed[:-2]]
    if command in ("retry", "discard"):
        words = [command, failed]

    result = shop.cli(*words, "--json")

    assert result.exit_code in (0, 1), result.stderr
    assert len(result.stdout.splitlines()) == 1
    check(command, result.stdout)


def test_the_schema_refuses_an_answer_with_a_missing_field(shop: Shop) -> None:
    text = shop.cli("queues", "--json").stdout

    with pytest.raises(ValidationError):
        check("queues", text.replace('"due"', '"do"'))
