"""The report of a child is accepted only if every store can hold it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.arguments import Json
from sempre.domain.exception_types import LONGEST_NAME, MOST_NAMES, type_names
from sempre.domain.results import RESULT_LIMIT, kept_result
from sempre.executors.current import Current
from sempre.executors.process.frames import BrokenFrame, FrameReader, encode_frame
from sempre.executors.process.reports import (
    LogEntry,
    largest_message,
    read_message,
    write_report,
)
from sempre.ports.executor import Ended, Outcome, Progress, Task

DEEP = '{"report":["succeeded",' + "[" * 40 + "]" * 40 + ',"","",[],null]}'


def read(text: str) -> list[Outcome | Progress | LogEntry]:
    body = text.encode("utf-8", "surrogatepass")
    return [*map(read_message, FrameReader().feed(len(body).to_bytes(4, "big") + body))]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"report":{}}',
        '{"report":[]}',
        '{"report":["succeeded"]}',
        '{"report":["succeeded",null,"","","",[],null]}',
        '{"report":["succeeded",null,null,"",[],null]}',
        '{"report":["succeeded",null,"",7,[],null]}',
        '{"report":["succeeded",null,"an error","",[],null]}',
        '{"report":["failed","a result","","",[],null]}',
        '{"report":["crashed",null,"","",[],null]}',
        '{"report":["timed out",null,"","",[],null]}',
        '{"report":["interrupted",null,"","",[],null]}',
        '{"report":["unheard of",null,"","",[],null]}',
        '{"report":[["failed"],null,"","",[],null]}',
        '{"report":["failed",null,"' + "x" * 501 + '","",[],null]}',
        '{"report":["failed",null,"","' + "x" * 8193 + '",[],null]}',
        '{"report":["failed",null,"\\u0000","",[],null]}',
        '{"report":["failed",null,"","\\ud800",[],null]}',
        '{"report":["succeeded","\\u0000","","",[],null]}',
        '{"report":["succeeded",{"\\ud800":1},"","",[],null]}',
        '{"report":["succeeded",NaN,"","",[],null]}',
        '{"report":["succeeded",1e999,"","",[],null]}',
        '{"report":["succeeded",9223372036854775808,"","",[],null]}',
        '{"report":["succeeded",' + "9" * 5000 + ',"","",[],null]}',
        '{"report":["succeeded",null,"","",[],null],"progress":[1,1,""]}',
        '{"report":["succeeded",null,"",""]}',
        '{"report":["succeeded",null,"","",[],["after",1000000]]}',
        '{"report":["failed",null,"","",null,null]}',
        '{"report":["failed",null,"","",{},null]}',
        '{"report":["failed",null,"","",[7],null]}',
        '{"report":["failed",null,"","",["\\u0000"],null]}',
        '{"report":["failed",null,"","",["\\ud800"],null]}',
        '{"report":["failed",null,"","",["' + "x" * 201 + '"],null]}',
        '{"report":["failed",null,"","",[' + ",".join(['"x"'] * 33) + "],null]}",
        '{"report":["retry later",null,"","",[],null]}',
        '{"report":["retry later",null,"","",[],300]}',
        '{"report":["retry later",null,"","",[],["after",true]]}',
        '{"report":["retry later",null,"","",[],["after",1.5]]}',
        '{"report":["retry later",null,"","",[],["after","5m"]]}',
        '{"report":["retry later",null,"","",[],["after",0]]}',
        '{"report":["retry later",null,"","",[],["after",-1000000]]}',
        '{"report":["retry later",null,"","",[],["after",1' + "0" * 30 + "]]}",
        '{"report":["retry later",null,"","",[],["at",1' + "0" * 30 + "]]}",
        '{"report":["retry later",null,"","",[],["at",-' + "9" * 17 + "]]}",
        '{"report":["retry later",null,"","",[],["never",1000000]]}',
        '{"report":["retry later",1,"","",[],["after",1000000]]}',
        '{"report":["gave up",null,"","",[],["after",1000000]]}',
        '{"progress":[]}',
        '{"progress":[1,2]}',
        '{"progress":["1",2,""]}',
        '{"progress":[true,2,""]}',
        '{"progress":[null,2,""]}',
        '{"progress":[1,"2",""]}',
        '{"progress":[1,-1e999,""]}',
        '{"progress":[1,Infinity,""]}',
        '{"progress":[1,2,3]}',
        '{"progress":[1,2,"' + "x" * 201 + '"]}',
        '{"progress":[1,2,"\\ud800"]}',
        '{"log":7}',
        '{"log":"line","progress":[1,1,""]}',
        '{"log":"' + "x" * 8193 + '"}',
        '{"log":"\\u0000"}',
        '{"log":"\\ud800"}',
        DEEP,
    ],
)
def test_what_no_child_of_ours_would_say_is_refused(text: str) -> None:
    with pytest.raises(BrokenFrame):
        read(text)


def test_a_message_over_the_limit_of_its_task_is_refused_before_it_has_arrived() -> None:
    frames = FrameReader()
    frames.largest = largest_message(Task("job", print, result_limit=100_000))

    assert [*frames.feed((198_304).to_bytes(4, "big"))] == []
    frames = FrameReader()
    frames.largest = largest_message(Task("job", print, result_limit=100_000))
    with pytest.raises(BrokenFrame, match="198,305 bytes; at most 198,304"):
        [*frames.feed((198_305).to_bytes(4, "big"))]


@pytest.mark.parametrize("value", [None, 0, -(2**63), 2**53, 1.5, "è", True, [1, {"a": None}]])
def test_a_report_of_a_child_is_read_unchanged(value: Json) -> None:
    report = Outcome(Ended.SUCCEEDED, value)

    [message] = FrameReader().feed(encode_frame({"report": write_report(report)}))

    assert read_message(message) == report


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Ended.FAILED, None, "boom", "trace", types=type_names(ConnectionError)),
        Outcome(Ended.GAVE_UP, None, "no such customer", "trace"),
        Outcome(Ended.SKIPPED, None, "nothing to do"),
        Outcome(Ended.RETRY_LATER, None, "è", after=timedelta(minutes=5, microseconds=1)),
        Outcome(Ended.RETRY_LATER, after=datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
    ],
)
def test_every_end_that_a_job_can_have_is_read_unchanged(outcome: Outcome) -> None:
    [message] = FrameReader().feed(encode_frame({"report": write_report(outcome)}))

    assert read_message(message) == outcome


def test_the_longest_names_of_the_most_types_fit_into_a_message() -> None:
    types = ("\x01" * LONGEST_NAME,) * MOST_NAMES
    texts = "\x01" * 500, "\x01" * 8192
    frames = FrameReader()
    frames.largest = largest_message(Task("job", print)) - RESULT_LIMIT

    [message] = frames.feed(
        encode_frame({"report": write_report(Outcome(Ended.FAILED, None, *texts, types=types))})
    )

    assert read_message(message)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_progress_that_a_job_may_report_is_read(done: float) -> None:
    current = Current()
    current.progress(done, done)
    progress = current.link.progress
    assert progress is not None

    parts = [progress.done, progress.total, progress.note]
    [message] = FrameReader().feed(encode_frame({"progress": parts}))

    assert read_message(message) == progress


@given(st.recursive(st.none() | st.floats() | st.integers() | st.text(), st.lists))
def test_every_result_that_is_kept_is_taken(value: object) -> None:
    report = Outcome(Ended.SUCCEEDED, kept_result(value))

    [message] = FrameReader().feed(encode_frame({"report": write_report(report)}))

    assert read_message(message) == report
