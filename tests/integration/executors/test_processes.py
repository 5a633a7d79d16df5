"""Runs in child processes: whatever a job does gives one outcome, and harms no other run."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from sempre.testing.polling import eventually
from tests.integration.executors.hosting import Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


def test_a_result_comes_back_as_it_is(worker: Worker) -> None:
    value: Any = {"東京": ["è", 1, 2.5, None, True, {"🚀": "\u2028"}]}

    outcome = worker.run("echo", value=value)

    assert outcome["result"] == value
    assert (outcome["ended"], outcome["error"], outcome["traceback"]) == ("succeeded", "", "")


def test_small_results_come_back_as_they_are(worker: Worker) -> None:
    values: list[Any] = [None, 0, -7, 2**53 - 1, 2**53, True, False, 1.5, "", "null", [], {}]

    results = [worker.run("echo", value=value)["result"] for value in values]

    assert list(map(repr, results)) == list(map(repr, values))


@pytest.mark.parametrize("letter", ["x", "è", "🚀", '"', "\\"])
def test_arguments_and_results_of_any_allowed_size_fit(worker: Worker, letter: str) -> None:
    value = letter * (65_000 // max(len(letter.encode()), 2 if letter in '"\\' else 1))

    assert worker.run("echo", value=value)["result"] == value


def test_a_result_that_is_too_large_is_marked_and_one_to_redact_is_masked(worker: Worker) -> None:
    many = worker.run("echo", value=["x" * 1_000] * 66)
    masked = worker.run("echo", value={"token": "a", "iban": "b", "rows": 1})

    assert many["ended"] == "succeeded"
    assert many["result"] == {"$sempre": "too_large", "bytes": 66_199, "limit": 65_536}
    assert masked["result"] == {"token": "a", "iban": "[redacted]", "rows": 1}


def test_a_result_up_to_the_highest_limit_comes_back(worker: Worker) -> None:
    outcome = worker.run("repeat", letter="è", times=1_048_575)

    assert outcome["result"] == "è" * 1_048_575


def test_a_result_that_is_no_json_is_a_success(worker: Worker) -> None:
    outcome = worker.run("give_bytes")

    assert (outcome["ended"], outcome["error"]) == ("succeeded", "")
    assert outcome["result"] == {"$sempre": "repr", "type": "bytes", "text": "b'raw'"}


def test_what_a_job_raises_comes_with_its_traceback_and_without_its_secrets(
    worker: Worker,
) -> None:
    outcome = worker.run("fail", message="password=hunter2 in region è")

    assert outcome["ended"] == "failed"
    assert outcome["error"] == "ValueError: password=[redacted] in region è"
    assert "in fail" in outcome["traceback"]
    assert "hunter2" not in outcome["traceback"]


def test_the_types_of_what_a_job_raises_come_with_it(worker: Worker) -> None:
    outcome = worker.run("fail_busily")

    assert outcome["types"] == [
        "tests.integration.executors.jobs.Busy",
        "builtins.ConnectionError",
        "builtins.OSError",
        "builtins.Exception",
        "builtins.BaseException",
    ]


@pytest.mark.parametrize(
    ("after", "comes"),
    [
        ("5m", "0:05:00"),
        ("1.000001s", "0:00:01.000001"),
        ("2030-01-02T03:04:05.000006+02:00", "2030-01-02 01:04:05.000006+00:00"),
    ],
)
def test_a_job_can_ask_for_a_later_try(worker: Worker, after: str, comes: str) -> None:
    outcome = worker.run("retry_later", after=after, reason="password=hunter2 è")

    assert (outcome["ended"], outcome["after"]) == ("retry later", comes)
    assert (outcome["error"], outcome["traceback"]) == ("password=[redacted] è", "")


def test_a_later_try_that_cannot_be_read_is_a_failure(worker: Worker) -> None:
    outcome = worker.run("retry_later", after="soon", reason="")

    assert (outcome["ended"], outcome["after"]) == ("failed", None)
    assert "RetryLater" in outcome["error"]
    assert "sempre.errors.IntervalError" in outcome["types"]


def test_a_job_can_give_up(worker: Worker) -> None:
    outcome = worker.run("give_up", reason="no such customer")

    assert (outcome["ended"], outcome["error"]) == ("gave up", "no such customer")
    assert "in give_up" in outcome["traceback"]


def test_the_end_of_the_time_is_of_the_type_timeout(worker: Worker) -> None:
    outcome = worker.run("hang", timeout=0.1)

    assert outcome["ended"] == "timed out"
    assert outcome["types"][:2] == ["builtins.TimeoutError", "builtins.OSError"]


def test_leaving_politely_is_a_failure(worker: Worker) -> None:
    assert worker.run("leave_politely", code=0)["error"] == "SystemExit: 0"


@pytest.mark.parametrize(
    ("job", "args", "words"),
    [
        ("abort", {}, "killed by SIGABRT"),
        ("read_nothing", {}, "killed by SIGSEGV"),
        ("leave", {"code": 0}, "exited with code 0"),
        ("leave", {"code": 3}, "exited with code 3"),
        ("kill_myself", {"number": int(signal.SIGKILL)}, "killed by SIGKILL"),
        ("kill_myself", {"number": int(signal.SIGTERM)}, "killed by SIGTERM"),
        ("kill_myself", {"number": int(signal.SIGRTMIN) + 3}, "killed by signal"),
        ("close_everything", {}, "exited with code 70"),
    ],
)
def test_a_child_that_ends_without_an_answer_has_crashed_alone(
    worker: Worker, job: str, args: dict[str, int], words: str
) -> None:
    outcome = worker.run(job, **args)

    assert outcome["ended"] == "crashed"
    assert words in outcome["error"]
    assert worker.run("echo", value="still here")["result"] == "still here"


MALFORMED = [
    '{"report":["succeeded"]}',
    '{"report":["succeeded","\ud800","","",[],null]}',
    '{"progress":["far",1,""]}',
]


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_report_fails_its_own_run_and_no_other(worker: Worker, text: str) -> None:
    forged = worker.submit("forge", text=text)
    others = {worker.submit("echo", value=number) for number in range(5)}

    outcomes = [worker.outcome() for _ in range(6)]

    assert {each["id"] for each in outcomes} == {forged, *others}
    [failed] = [each for each in outcomes if each["ended"] != "succeeded"]
    assert (failed["id"], failed["ended"]) == (forged, "failed")
    assert failed["error"].startswith("its process sent a malformed report: a")
    assert "A job must only write to descriptors that it has opened itself" in failed["error"]


def test_nonsense_on_the_stream_of_a_child_fails_its_run(worker: Worker) -> None:
    outcome = worker.run("write_nonsense")

    assert outcome["ended"] == "failed"
    expected = "its process sent a malformed report: a message of 4,294,967,295 bytes"
    assert outcome["error"].startswith(expected)


def test_a_child_that_eats_its_memory_fails_alone(worker: Worker) -> None:
    outcome = worker.run("eat")

    assert outcome["ended"] == "failed"
    assert outcome["error"] == "MemoryError"
    assert "in eat" in outcome["traceback"]
    assert worker.run("eat_a_little")["result"] == 1_000_000


def test_a_child_is_a_fresh_process_with_a_group_and_signals_of_its_own(worker: Worker) -> None:
    found = worker.run("describe", timeout=3600)["result"]

    assert found["leads its group"]
    assert found["handlers"] == [
        "<Handlers.SIG_DFL: 0>",
        "<built-in function default_int_handler>",
        "<Handlers.SIG_DFL: 0>",
        "<Handlers.SIG_DFL: 0>",
        "<Handlers.SIG_DFL: 0>",
    ]
    assert found["blocked"] == 0
    assert found["stdin"] == ""
    assert found["facts"] == ["billing", 2, "2026-05-04T12:00:00+00:00"]
    assert found["has time"]


def test_a_child_has_its_own_stream_and_nothing_of_other_children() -> None:
    with Worker() as worker:
        alone = worker.run("describe")["result"]["descriptors"]
        for _ in range(3):
            worker.submit("hang")
            worker.read_line()
        among_others = worker.run("describe")["result"]["descriptors"]

    assert len(among_others) == len(alone)


def test_what_a_run_leaves_in_memory_is_gone_with_it(worker: Worker) -> None:
    assert [worker.run("remember")["result"] for _ in range(3)] == [["unset"]] * 3


def test_async_functions_get_a_loop_in_their_child(worker: Worker) -> None:
    assert worker.run("wait_a_moment", name="ann")["result"] == "ciao ann, by billing"


def test_a_job_that_the_fork_server_does_not_know_fails_by_its_name(worker: Worker) -> None:
    outcome = worker.run("registered_too_late")

    assert outcome["ended"] == "failed"
    assert 'no job "registered_too_late" was registered when the worker started' in outcome["error"]


def test_what_a_job_prints_is_not_lost() -> None:
    with Worker() as worker:
        worker.run("print_something")
        printed, errors = worker.written()

    assert printed == "ciao from a child\n"
    assert errors == "and an error\n"


def test_progress_arrives_and_the_last_of_it_in_any_case(worker: Worker) -> None:
    identity = worker.submit("report_progress")
    worker.read_line()

    eventually(lambda: worker.ask("progress").get(identity) == [1_000, 1_000, "all"])
    worker.ask("cancel", identity=identity, reason="seen enough")
    worker.outcome()
    assert worker.ask("progress") == {}


def test_many_runs_at_a_time_are_reported_once_each(worker: Worker) -> None:
    wanted = {worker.submit("echo", value=number): number for number in range(100)}

    outcomes = [worker.outcome() for _ in wanted]

    assert {outcome["id"]: outcome["result"] for outcome in outcomes} == wanted
    worker.run("echo")
    assert worker.is_silent
