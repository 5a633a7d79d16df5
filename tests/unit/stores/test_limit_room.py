"""The room under limits: exact at the edges of a window, whatever the numbers."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import limits_of
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.planning import Plan
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.stores.limit_room import Admissions, Opening, taken
from sempre.stores.memory.limits import RoomInMemory, note_start
from sempre.stores.memory.tables import Tables

NOW = datetime(2026, 11, 18, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def row(limit: Concurrency | Rate, number: int = 0) -> Execution:
    snapshot = Snapshot(name="mail", job="mail", limits=(limit,))
    return Execution(
        id=f"{number:04}",
        kind=Kind.ENQUEUED,
        run_at=NOW,
        due_at=NOW,
        snapshot=snapshot,
        created_at=NOW,
    )


def admits(tables: Tables, limit: Rate, now: datetime) -> bool:
    return Admissions(RoomInMemory(tables), now).admit(row(limit), Plan())


def test_a_start_is_allowed_when_the_oldest_one_is_exactly_as_old_as_the_period() -> None:
    tables, limit = Tables(), Rate("2/m")
    for seconds in (0, 10):
        note_start(tables, row(limit), NOW + timedelta(seconds=seconds))
    edge = NOW + timedelta(minutes=1)

    assert not admits(tables, limit, edge - TICK)
    assert admits(tables, limit, edge)


def test_a_rate_opens_exactly_at_the_edge() -> None:
    tables, limit = Tables(), Rate("2/m")
    for seconds in (0, 10):
        note_start(tables, row(limit), NOW + timedelta(seconds=seconds))
    opening = Opening("rate:job:mail", RoomInMemory(tables), NOW + timedelta(seconds=30))

    assert not opening.add([row(limit)])
    assert opening.opens == {"rate:job:mail": NOW + timedelta(minutes=1)}


def test_a_shorter_period_of_another_job_forgets_no_start_of_a_longer_one() -> None:
    tables = Tables()
    hourly, quick = Rate("1/h", tag="t"), Rate("9/s", tag="t")
    note_start(tables, row(hourly), NOW)

    note_start(tables, row(quick), NOW + timedelta(minutes=5))

    assert not admits(tables, hourly, NOW + timedelta(minutes=59))


@given(
    waits=st.lists(st.integers(0, 40_000_000), min_size=1, max_size=60),
    count=st.integers(1, 5),
    seconds=st.integers(1, 60),
)
def test_no_window_ever_has_more_starts_than_the_rate(
    waits: list[int], count: int, seconds: int
) -> None:
    tables, limit, now = Tables(), Rate(f"{count}/{seconds}s"), NOW
    starts: list[datetime] = []

    for wait in waits:
        now += timedelta(microseconds=wait)
        if admits(tables, limit, now):
            note_start(tables, row(limit), now)
            starts.append(now)

    for start in starts:
        within = [each for each in starts if start <= each < start + limit.period]
        assert len(within) <= count
    [keyed] = limits_of(row(limit).snapshot)
    assert taken(keyed, RoomInMemory(tables), now) <= count
