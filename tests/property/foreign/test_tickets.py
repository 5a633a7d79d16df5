"""Whatever lies in a broker's lane is a ticket of ours or junk, and does no harm either way."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sempre.engine.tickets import Sentinel, Ticket, WatchdogCall, read_ticket
from sempre.ports.broker import Message
from tests.property.foreign.strategies import any_text, json_texts
from tests.simulation.worlds import SmallWorld

LONGEST_INTERVAL = 366 * 24 * 3600


@given(json_texts)
def test_any_body_is_read_or_none_of_ours(body: str) -> None:
    said = read_ticket(body)

    match said:
        case Ticket():
            texts = [said.store, said.execution]
            assert type(said.ring) is int
            assert all(text.isascii() and text.isprintable() for text in texts)
        case WatchdogCall():
            assert type(said.interval) is int
            assert 0 < said.interval <= LONGEST_INTERVAL
        case Sentinel():
            assert said.nonce.isascii()


@pytest.mark.parametrize(
    "body",
    [
        "[NaN]",
        "[" * 60_000,
        '{"a":' * 10_000,
        "9" * 5000,
        json.dumps(["store", "\ud800", 0]),
        json.dumps(["store", "\0", 0]),
        json.dumps(["store", "x" * 1000, 0]),
        json.dumps(["store", "", 0]),
        json.dumps(["store", "execution", True]),
        json.dumps({"scheduler": True, "interval": True}),
        json.dumps({"scheduler": True, "interval": 10**400}),
        json.dumps({"scheduler": 1, "interval": 5}),
        json.dumps({"sentinel": "\ud800"}),
    ],
    ids=lambda body: body[:30],
)
def test_a_body_that_only_looks_like_ours_is_none_of_ours(body: str) -> None:
    assert read_ticket(body) is None


def as_received(text: str) -> str:
    """Return a text as it comes from a broker that carries bytes."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")


@settings(max_examples=30)
@given(st.lists((json_texts | any_text).map(as_received), max_size=6))
def test_whatever_lies_in_a_lane_a_slot_starts_once_and_not_early(bodies: list[str]) -> None:
    world = SmallWorld()
    world.create()
    lanes = [world.person.engine.bell.lane(queue) for queue in ("default", "scheduler")]
    world.exchange.inner.put([Message(lane, body) for lane in lanes for body in bodies])

    world.pass_for(45)

    [start] = world.effects.starts.values()
    assert 30.0 <= start.at / 1_000_000 < 31.0
