from datetime import UTC, datetime, timedelta
from uuid import UUID

from sempre.engine.ids import new_id

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_7() -> None:
    made = UUID(new_id(NOW))
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"


def test_ids_sort_by_time() -> None:
    made = [new_id(NOW + timedelta(milliseconds=step)) for step in range(200)]
    assert made == sorted(made)


def test_ids_of_the_same_instant_differ() -> None:
    assert len({new_id(NOW) for _ in range(1000)}) == 1000
