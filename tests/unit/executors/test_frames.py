"""Messages arrive whole and in order, however the stream cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.executors.process.frames import BrokenFrame, FrameReader, encode_frame

MESSAGES = st.lists(st.dictionaries(st.text(max_size=9), st.text() | st.integers()), max_size=6)


@given(MESSAGES, st.lists(st.integers(min_value=0, max_value=200)))
def test_messages_arrive_as_they_were_sent(
    messages: list[dict[str, object]], cuts: list[int]
) -> None:
    raw = b"".join(encode_frame(message) for message in messages)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [raw[begin:end] for begin, end in pairwise(places)]
    frames = FrameReader()

    assert [message for piece in pieces for message in frames.feed(piece)] == messages


def test_lone_surrogates_cross_too() -> None:
    assert [*FrameReader().feed(encode_frame({"a": "\udce9"}))] == [{"a": "\udce9"}]


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x02{]",
        b"\x00\x00\x00\x02\xff\xff",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x00",
        (20_000).to_bytes(4, "big") + b"[" * 20_000,
    ],
)
def test_bytes_that_are_no_frame_are_refused(raw: bytes) -> None:
    with pytest.raises(BrokenFrame):
        [*FrameReader().feed(raw)]
