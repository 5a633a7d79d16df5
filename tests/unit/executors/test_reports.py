"""The report of a child is accepted only if every store can hold it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.arguments import Json
from sempre.domain.results import kept_result
from sempre.executors.current import Current
from sempre.executors.process.frames import BrokenFrame, FrameReader, encode_frame
from sempre.executors.process.reports import LogEntry, largest_message, read_message
from sempre.ports.executor import Ended, Outcome, Progress, Task

DEEP = '{"report":["succeeded",' + "[" * 40 + "]" * 40 + ',"",""]}'


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
        '{"report":["succeeded",null,"","",""]}',
        '{"report":["succeeded",null,null,""]}',
        '{"report":["succeeded",null,"",7]}',
        '{"report":["succeeded",null,"an error",""]}',
        '{"report":["failed","a result","",""]}',
        '{"report":["crashed",null,"",""]}',
        '{"report":["timed out",null,"",""]}',
        '{"report":["interrupted",null,"",""]}',
        '{"report":["unheard of",null,"",""]}',
        '{"report":[["failed"],null,"",""]}',
        '{"report":["failed",null,"' + "x" * 501 + '",""]}',
        '{"report":["failed",null,"","' + "x" * 8193 + '"]}',
        '{"report":["failed",null,"\\u0000",""]}',
        '{"report":["failed",null,"","\\ud800"]}',
        '{"report":["succeeded","\\u0000","",""]}',
        '{"report":["succeeded",{"\\ud800":1},"",""]}',
        '{"report":["succeeded",NaN,"",""]}',
        '{"report":["succeeded",1e999,"",""]}',
        '{"report":["succeeded",9223372036854775808,"",""]}',
        '{"report":["succeeded",' + "9" * 5000 + ',"",""]}',
        '{"report":["succeeded",null,"",""],"progress":[1,1,""]}',
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

    assert [*frames.feed((165_536).to_bytes(4, "big"))] == []
    frames = FrameReader()
    frames.largest = largest_message(Task("job", print, result_limit=100_000))
    with pytest.raises(BrokenFrame, match="165,537 bytes; at most 165,536"):
        [*frames.feed((165_537).to_bytes(4, "big"))]


@pytest.mark.parametrize("value", [None, 0, -(2**63), 2**53, 1.5, "è", True, [1, {"a": None}]])
def test_a_report_of_a_child_is_read_unchanged(value: Json) -> None:
    report = Outcome(Ended.SUCCEEDED, value)

    [message] = FrameReader().feed(encode_frame({"report": report[:4]}))

    assert read_message(message) == report


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

    [message] = FrameReader().feed(encode_frame({"report": report[:4]}))

    assert read_message(message) == report
