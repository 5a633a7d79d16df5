"""What commands print with `--json` keeps the schema on the documentation page."""

from pathlib import Path

import pytest
from jsonschema import ValidationError

from sempre import Cron
from sempre.clock import SystemClock
from sempre.testing.contracts.store.builders import claimed, session_of
from tests.integration.cli.planning_app import write_code
from tests.integration.cli.schema import COMMANDS, check
from tests.integration.cli.shop import Shop

THIS_MONTH = SystemClock().now().strftime("%Y-%m")
WORDS = {
    "show": ["show", "leap"],
    "next": ["next", "-n", "3"],
    "forecast": ["forecast", "--for", "2h"],
    "executions": ["executions", "--until", "2100-01-01", "--state", "missed", "--state", "failed"],
    "status": ["status"],
    "workers drain": ["workers", "drain", "--all"],
    "init": ["init", "made"],
    "log": ["log"],
    "why": ["why", "leap@2028-02-29T03:00"],
    "statement": ["statement", "--month", THIS_MONTH],
    "statement --slots": ["statement", "--slots", "--month", THIS_MONTH],
    "edit": ["edit", "leap", "--priority", "7"],
    "rename": ["rename", "spare", "other"],
    "delete": ["delete", "leap", "--yes"],
    "enqueue": ["enqueue", "leap", "--in", "1h"],
    "cancel": ["cancel", "--state", "running", "--yes"],
    "plan edit": ["plan", "edit", "leap", "--priority", "7"],
    "plan pause": ["plan", "pause", "leap", "--until", "2h"],
    "plan skip": ["plan", "skip", "leap"],
    "apply": ["apply", "--yes"],
    "plan switch-off": ["plan", "switch-off", "all", "--for", "2h"],
    **{
        f"plan {verb}": ["plan", verb, "leap", "hourly"]
        for verb in ("resume", "enable", "disable", "delete")
    },
}
ELSEWHERE = {"executions --follow", "alerts list", "alerts test"}
"""Commands without an end, or that need an application; their own tests check them."""


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


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in ELSEWHERE])
def test_an_answer_keeps_the_schema(shop: Shop, command: str) -> None:
    failed = busy(shop)
    words = WORDS.get(command, command.split())
    if command == "execution":
        words = ["execution", failed[:-2]]
    if command in ("plan deploy", "diff", "apply"):
        code = f"code_of_{command.replace(' ', '_')}"  # a process imports a module once
        line = 'app.add("new", Cron("0 4 * * *"), leap)'
        words = [*words, "-A", write_code(Path.cwd(), code, shop.url, line)]
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
