"""The stream of a child: whatever a job writes into it is a message or breaks it, nothing else."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from sempre.executors.process.frames import BrokenFrame, FrameReader
from sempre.executors.process.reports import read_message
from sempre.ports.executor import Outcome, Progress
from tests.property.foreign.strategies import json_texts

FRAMED = json_texts.map(lambda text: text.encode("utf-8", "surrogatepass")).map(
    lambda raw: len(raw).to_bytes(4, "big") + raw
)


@given(st.lists(st.binary(max_size=30) | FRAMED, max_size=5))
def test_any_bytes_are_messages_or_a_broken_stream(pieces: list[bytes]) -> None:
    frames = FrameReader()
    with suppress(BrokenFrame):
        for piece in pieces:
            said = map(read_message, frames.feed(piece))
            assert all(isinstance(message, Outcome | Progress) for message in said)
