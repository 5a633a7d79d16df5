import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.engine.tickets import (
    Sentinel,
    Ticket,
    WatchdogCall,
    lane_of,
    read_ticket,
    ticket_text,
)

UUID = "0e5b7c1e-8d0a-4f6b-9a51-2f1f5b0c9f11"


@pytest.mark.parametrize(
    "ticket", [Ticket(UUID, "e1", 3), WatchdogCall(300), Sentinel("abc")], ids=repr
)
def test_what_is_written_is_read_back(ticket: Ticket | WatchdogCall | Sentinel) -> None:
    assert read_ticket(ticket.to_text()) == ticket


@given(st.text(), st.text(), st.integers())
def test_a_ticket_is_written_as_json_would_be(store: str, execution: str, ring: int) -> None:
    plain = json.dumps([store, execution, ring], separators=(",", ":"))

    assert ticket_text(store, execution, ring) == plain


def test_the_watchdog_message_is_that_of_the_seed() -> None:
    assert json.loads(WatchdogCall(300).to_text()) == {"scheduler": True, "interval": 300}


@given(st.text() | st.from_type(dict).map(str) | st.lists(st.integers()).map(json.dumps))
def test_junk_is_none_of_ours(body: str) -> None:
    assert read_ticket(body) is None


def test_a_watchdog_message_that_would_call_without_pause_is_none_of_ours() -> None:
    assert read_ticket('{"scheduler": true, "interval": 0}') is None


WORDS = st.text("abcAB019_.:/-", min_size=1, max_size=100).filter(
    lambda word: word[0] not in ".:/-"
)


@given(st.sets(WORDS, min_size=2, max_size=2))
def test_two_queues_never_share_a_lane(queues: set[str]) -> None:
    assert len({lane_of(UUID, queue) for queue in queues}) == 2


@given(WORDS)
def test_a_lane_is_made_of_letters_that_every_broker_takes(queue: str) -> None:
    lane = lane_of(UUID, queue)
    assert set(lane) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert len(lane.encode()) <= 230


def test_two_stores_never_share_a_lane() -> None:
    assert lane_of(UUID, "default") != lane_of("1" + UUID[1:], "default")
