"""Contracts of what a message may be made of: any text, in any lane, of any priority."""

# ruff: noqa: S101 - a contract asserts

from string import ascii_letters, digits

from sempre.ports.broker import LARGEST_BODY, Broker, Message
from sempre.testing.contracts.broker.builders import bodies_of, delivered, new_lane, only, put_one

TEXTS = (
    "",
    " ",
    "0",
    "not a ticket",
    '{"ring": [1, 2, {"three": null}]}',
    "perché no? 永遠 🔔 \u202e",
    "line\r\nline\n\r\n",
    "quit\r\ndelete 1\r\n",
    "*1\r\n$7\r\nFLUSHDB\r\n",
    "\x00\x01\x7f\x1b[31m",
    "%s {0} :name ' \" \\ `",
)


def test_any_text_comes_as_it_was_put(broker: Broker) -> None:
    """The broker neither parses, cuts nor executes any part of the text."""
    lane = new_lane()

    handles = broker.put([Message(lane, text) for text in TEXTS])

    found = delivered(broker, [lane], count=len(TEXTS))
    assert {each.handle: each.message.body for each in found} == dict(
        zip(handles, TEXTS, strict=True)
    )
    assert all(broker.holds(lane, each.handle, each.message.body) for each in found)
    broker.acknowledge(found)
    assert not broker.has_any(lane)


def test_the_largest_body_is_taken(broker: Broker) -> None:
    """The size is counted in bytes of UTF-8."""
    lane = new_lane()
    body = "è" * (LARGEST_BODY // 2)
    put_one(broker, lane, body)

    assert bodies_of([only(broker, lane)]) == [body]


def test_priorities_reach_from_nought_to_the_largest(broker: Broker) -> None:
    """Each priority comes back unchanged."""
    lane = new_lane()
    priorities = [0, 1, 999, 1000, 65_536, 2**31 - 1]
    broker.put([Message(lane, "ring", priority=priority) for priority in priorities])

    found = delivered(broker, [lane], count=len(priorities))

    assert sorted(each.message.priority for each in found) == priorities


def test_every_lane_that_is_allowed_is_its_own(broker: Broker) -> None:
    """Capitals, digits, dots, dashes, underscores, and the longest name."""
    stem = new_lane()
    names = [f"{stem}.{end}" for end in (ascii_letters, digits, "a.b-c_d", "A.b-c_d", "a.b-c_d-")]
    names.append(stem.ljust(200, "x"))
    broker.put([Message(name, name) for name in names])

    for name in names:
        assert bodies_of([only(broker, name)]) == [name]
