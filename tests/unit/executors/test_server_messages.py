"""Messages of worker and fork server arrive whole and in order, however the bytes are cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sempre.executors.process.server_messages import MessageReader, encode

NUMBERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=6), st.lists(st.integers(0, 150)))
def test_messages_arrive_as_they_were_sent(
    messages: list[tuple[int, int, int]], cuts: list[int]
) -> None:
    raw = b"".join(encode(*each) for each in messages)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [raw[begin:end] for begin, end in pairwise(places)]
    reader = MessageReader()

    assert [each for piece in pieces for each in reader.feed(piece)] == messages
