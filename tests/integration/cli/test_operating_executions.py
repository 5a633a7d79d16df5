"""Retry, cancel, discard, dead, enqueue and log: what they change, say and refuse."""

import json
import os
import subprocess
import sys

import pytest

from sempre import Sempre
from sempre.domain.states import State
from tests.integration.cli.programs import clean_environment
from tests.integration.cli.shop import Shop, lines
from tests.integration.cli.terminal import open_terminal, plain, read_all


@pytest.fixture
def failed(shop: Shop) -> str:
    """An execution that failed for good."""
    return shop.run("doomed")[0]


def test_retry_by_id_runs_a_failed_execution_again(shop: Shop, failed: str) -> None:
    before = shop.app.execution(failed).row

    [line] = lines(shop.cli("retry", failed, "-m", "the bank is back"))

    assert line.startswith(f"ok {failed} doomed ")
    waiting = shop.app.execution(failed).row
    assert (waiting.state, waiting.reason) == (State.SCHEDULED, "retried: the bank is back")
    shop.work()
    again = shop.app.execution(failed).row
    assert (again.state, again.attempt) == (State.FAILED, before.attempt + 1)
    assert again.key == before.key
    assert again.fence > before.fence


def test_retry_by_filter_shows_the_executions_and_asks(shop: Shop, failed: str) -> None:
    refused = shop.cli("retry", "--failed", "--since", "1h")

    assert refused.exit_code == 5
    assert failed in refused.stdout
    assert "1 execution would be retried; confirm with --yes." in refused.stderr

    done = shop.cli("retry", "--failed", "--since", "1h", "--job", "fail", "--yes")

    assert "1 of 1 execution retried." in done.stderr
    assert shop.app.execution(failed).row.is_live


def test_a_dry_run_changes_nothing(shop: Shop, failed: str) -> None:
    result = shop.cli("retry", "--failed", "--dry-run")

    assert result.exit_code == 0
    assert "1 execution to be retried." in result.stderr
    assert shop.app.execution(failed).row.state is State.FAILED


def test_a_filter_by_the_text_of_the_error(shop: Shop, failed: str) -> None:
    none = shop.answer("retry", "--failed", "--text", "disk full", "--yes")
    some = shop.answer("retry", "--failed", "--text", "NO SUCH region", "--yes")

    assert none == {"answers": [], "done": 0}
    assert some["answers"] == [{"id": failed, "message": "retried", "done": True}]


def test_what_succeeded_is_not_retried(shop: Shop) -> None:
    [identity] = shop.run("leap")

    result = shop.cli("retry", identity)

    assert result.exit_code == 5
    assert f"execution {identity} is succeeded; only these can be retried" in result.stdout


def test_an_unknown_execution_is_named(shop: Shop) -> None:
    result = shop.cli("retry", "nope")

    assert result.exit_code == 4
    assert 'no execution "nope"' in result.stderr


def test_ids_and_filters_exclude_each_other(shop: Shop, failed: str) -> None:
    assert shop.cli("retry", failed, "--failed").exit_code == 2
    assert shop.cli("retry").exit_code == 2


def test_a_paused_schedule_retries_nothing_and_tells_the_remedy(shop: Shop, failed: str) -> None:
    shop.app.schedule("doomed").trigger()
    shop.cli("pause", "doomed")
    [row] = [row for row in shop.app.executions(schedule="doomed") if row.id == failed]
    assert row.kind == "manual"

    # Manual runs pass a pause, and so does their retry.
    assert shop.cli("retry", failed).exit_code == 0


def test_cancel_ends_waiting_work(shop: Shop) -> None:
    identity = shop.app.schedule("leap").trigger().id

    [line] = lines(shop.cli("cancel", identity, "-m", "not today"))

    assert line.endswith(": cancelled")
    assert shop.app.execution(identity).row.state is State.CANCELLED


def test_the_next_execution_of_a_schedule_is_skipped_and_not_cancelled(shop: Shop) -> None:
    [row] = [row for row in shop.app.executions(schedule="leap") if row.is_live]

    result = shop.cli("cancel", row.id)

    assert result.exit_code == 5
    assert "skip the slot instead" in result.stdout


def test_the_dead_set_is_listed_searched_and_discarded(shop: Shop, failed: str) -> None:
    listed = shop.answer("dead")
    searched = shop.answer("dead", "no such region", "--job", "fail")
    nothing = shop.cli("dead", "disk full")

    assert [each["id"] for each in listed["executions"]] == [failed]
    assert searched == listed
    assert "0 failed executions." in nothing.stderr

    lines(shop.cli("discard", failed, "-m", "known bug"))

    assert shop.answer("dead") == {"executions": [], "more": False}
    row = shop.app.execution(failed).row
    assert (row.state, row.reason) == (State.CANCELLED, "discarded: known bug")


def test_enqueue_runs_a_job_that_the_store_knows(shop: Shop) -> None:
    [line] = lines(shop.cli("enqueue", "leap", "--args", '{"region": "eu"}', "-m", "once more"))

    identity = line.split()[0]
    shop.work()
    row = shop.app.execution(identity).row
    assert (row.state, dict(row.snapshot.args)) == (State.SUCCEEDED, {"region": "eu"})
    assert shop.app.execution(identity).attempts[0].result == "leapt in eu"


def test_enqueue_for_later(shop: Shop) -> None:
    answer = shop.answer("enqueue", "leap", "--in", "10m", "--queue", "slow", "--priority", "5")

    row = shop.app.execution(answer["id"]).row
    assert row.due_at > row.created_at
    assert (row.snapshot.queue, row.snapshot.priority) == ("slow", 5)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["leep"], 4, 'no job "leep". Did you mean leap?'),
        (["leap", "--args", "{"], 2, "--args is no JSON"),
        (["leap", "--args", "[1]"], 2, "--args is no JSON object"),
        (["leap", "--in", "1m", "--at", "2040-01-01"], 2, "give --in or --at, not both."),
        (["leap", "--in", "soon"], 2, "soon"),
    ],
)
def test_bad_input_of_enqueue_is_named(
    shop: Shop, arguments: list[str], code: int, message: str
) -> None:
    result = shop.cli("enqueue", *arguments)

    assert result.exit_code == code
    assert message in result.stderr


def test_an_enqueue_that_a_switch_rejects_is_refused(shop: Shop) -> None:
    shop.cli("switch", "off", "job:leap", "--reject", "-m", "incident")

    result = shop.cli("enqueue", "leap")

    assert result.exit_code == 5
    assert "rejected by job:leap" in result.stderr


def test_the_log_has_every_act_with_who_what_and_why(shop: Shop, failed: str) -> None:
    shop.cli("pause", "leap", "-m", "migration")
    shop.cli("resume", "leap", "-m", "done")
    shop.cli("edit", "hourly", "--cron", "0 5 * * *", "-m", "less load")
    shop.cli("retry", failed, "-m", "again")
    shop.cli("switch", "off", "job:leap", "-m", "incident")

    actions = shop.answer("log")["actions"]

    told = [(each["verb"], each["target"], each["note"]) for each in actions[:5]]
    assert told == [
        ("switch off", "switch:job:leap", "incident"),
        ("retry", f"execution:{failed}", "again"),
        ("edit", "schedule:hourly", "less load"),
        ("resume", "schedule:leap", "done"),
        ("pause", "schedule:leap", "migration"),
    ]
    *acts, deploy = actions
    assert all(each["actor"] == shop.app.actor for each in acts)
    assert (deploy["verb"], deploy["actor"]) == ("create", "code")
    assert actions[2]["after"]["grid"]["text"] == "0 5 * * *"


def test_the_log_of_one_schedule_in_words(shop: Shop) -> None:
    shop.cli("edit", "hourly", "--priority", "5")
    shop.cli("pause", "leap")

    result = shop.cli("log", "hourly")

    assert "priority: 1000 -> 5" in result.stdout
    assert "leap" not in result.stdout


def test_secrets_are_masked_in_the_log(shop: Shop) -> None:
    shop.cli("edit", "leap", "--args", '{"region": "eu"}')
    shop.app.schedule("leap").edit(args={"region": "eu"}, why="password=hunter2")
    shop.cli("enqueue", "leap", "--args", json.dumps({"region": "x", "token": "hunter2"}))

    assert "hunter2" not in shop.cli("log").stdout
    assert "hunter2" not in shop.cli("log", "--json").stdout


def test_an_operator_needs_no_code(shop: Shop, failed: str) -> None:
    bare = Sempre(shop.url)
    try:
        bare.execution(failed).retry(why="by hand")
    finally:
        bare.close()

    assert shop.app.execution(failed).row.is_live


def typed(shop: Shop, answer: str, *words: str) -> tuple[int, str]:
    """Run a command on a pseudo-terminal, and type an answer; return its code and its output."""
    ours, theirs = open_terminal(100)
    command = [sys.executable, "-m", "sempre", *words, "--store", shop.url]
    run = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "env": clean_environment()}
    with subprocess.Popen(command, **run) as process:  # type: ignore[call-overload]
        os.close(theirs)
        os.write(ours, answer.encode())
        text = plain(read_all(ours))
        return process.wait(), text


def test_a_terminal_asks_before_many_are_retried_and_shows_progress(shop: Shop) -> None:
    ids = shop.run("doomed", "doomed", "doomed")

    refused, asked = typed(shop, "n\n", "retry", "--failed")
    done, shown = typed(shop, "y\n", "retry", "--failed", "-m", "the bank is back")

    assert refused == 5
    assert "Go on?" in asked
    assert "nothing was changed" in asked
    assert done == 0
    assert "%" in shown
    assert "3 of 3 executions retried." in shown
    assert all(shop.app.execution(each).row.is_live for each in ids)


def test_a_terminal_asks_before_a_schedule_is_deleted(shop: Shop) -> None:
    refused, asked = typed(shop, "n\n", "delete", "leap")
    done, _ = typed(shop, "y\n", "delete", "leap", "-m", "gone")

    assert (refused, done) == (5, 0)
    assert "Delete 1 schedule?" in asked
    assert shop.cli("show", "leap").exit_code == 4


def test_the_log_fits_a_narrow_terminal(shop: Shop) -> None:
    shop.cli("edit", "hourly", "--cron", "0 5 * * *", "-m", "less load " * 12)

    code, text = typed(shop, "", "log")

    assert code == 0
    assert "hourly" in text
    assert all(len(line) <= 100 for line in text.splitlines())
