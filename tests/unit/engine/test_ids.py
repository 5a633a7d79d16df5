"""Ids of executions: of version 7, unique, and in the order in which they were made."""

import os
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sempre.engine.ids import made_at, new_id

NOON = datetime(2026, 11, 16, 12, 0, 0, 123_456, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_7_that_tells_when_it_was_made() -> None:
    tomorrow = NOON + timedelta(days=1)
    identity = UUID(new_id(tomorrow))

    assert (identity.version, identity.variant) == (7, "specified in RFC 4122")
    assert made_at(str(identity)) == tomorrow.replace(microsecond=123_000)


def test_ids_of_the_same_moment_are_in_the_order_in_which_they_were_made() -> None:
    ids = [new_id(NOON) for _ in range(10_000)]

    assert ids == sorted(set(ids))


def test_a_forked_child_makes_other_ids_than_its_parent() -> None:
    new_id(NOON)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, new_id(NOON).encode())
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reading, 36).decode()[19:] != new_id(NOON)[19:]
    os.close(reading)
    os.close(writing)


def test_a_later_id_sorts_after_an_earlier_one() -> None:
    moments = [NOON + timedelta(microseconds=each) for each in range(100, 1000)]
    ids = [new_id(moment) for moment in moments]

    assert ids == sorted(ids)


def test_a_clock_that_was_set_back_begins_a_new_order() -> None:
    new_id(NOON)
    earlier = NOON - timedelta(hours=1)

    assert made_at(new_id(earlier)) == earlier.replace(microsecond=123_000)
