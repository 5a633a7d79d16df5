"""Stores write the columns of one table, and read what they wrote."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from sempre.domain.execution import Execution
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import UniqueKey
from sempre.stores.columns import EXECUTIONS, SCHEDULES, Column, Reader, Writer
from sempre.stores.redis import encoding as redis
from sempre.stores.sql import encoding as sql
from tests.unit.domain.builders import Story, at


def schedule() -> Schedule:
    paused = Pause(until=at("13:00"), note="rest", actor="ann")
    return copy_with(Story().schedule, pause=paused, broken="no zone", started=True)


def running() -> Execution:
    story = Story()
    row = story.next_row
    assert row is not None
    story.go("12:01")
    return story.claim(row)


def names(*columns: Column) -> set[str]:
    return {each.name for each in columns}


def test_a_database_gets_every_column_of_an_execution() -> None:
    unique = UniqueKey("key", "live", timedelta(0))

    written = sql.write_execution(running(), (None, None)) | sql.write_unique(unique)

    assert set(written) == names(*EXECUTIONS.columns)


def test_a_database_gets_every_column_of_a_schedule() -> None:
    assert set(sql.write_schedule(schedule(), "v1")) == names(*SCHEDULES.columns)


def test_a_change_writes_the_columns_that_change() -> None:
    changing = [each for each in EXECUTIONS.columns if each.changes == "always"]
    moving = [each for each in SCHEDULES.columns if each.changes == "always"]

    assert set(sql.write_changed_execution(running())) == names(*changing) | {"id"}
    assert set(sql.write_moved_schedule(schedule(), None)) == names(*moving) | {"id"}


def test_a_row_of_a_database_is_read_as_it_was_written() -> None:
    row, declared = running(), schedule()

    of_row = sql.write_execution(row, sql.write_snapshot(row.snapshot))
    of_schedule = sql.write_schedule(declared, None)
    lease = sql.microseconds(row.leased_until)

    columns = [*sql.EXECUTION.columns, *EXECUTIONS.parts]
    assert sql.read_execution([*(of_row[each.name] for each in columns), lease]) == row
    columns = [*sql.SCHEDULE.columns, *SCHEDULES.parts]
    assert sql.read_schedule([of_schedule[each.name] for each in columns]) == declared


def test_a_hash_is_read_as_it_was_written() -> None:
    row, declared = running(), schedule()

    of_row, of_schedule = redis.write_execution(row), redis.write_schedule(declared)
    lease = redis.stamp(row.leased_until)

    fields = [of_row[name] for name in redis.EXECUTION_FIELDS]
    assert redis.read_execution([row.id, *fields, lease]) == row
    fields = [of_schedule[name] for name in redis.SCHEDULE_FIELDS]
    assert redis.read_schedule([declared.id, *fields]) == declared


def test_a_hash_of_an_older_release_has_the_default_of_a_later_field() -> None:
    row = copy_with(running(), crashes=3)
    fields: dict[str, str | None] = {**redis.write_execution(row), "crashes": None}

    found = [row.id, *(fields[name] for name in redis.EXECUTION_FIELDS), ""]

    assert redis.read_execution(found).crashes == 0  # type: ignore[arg-type]


def test_a_hash_without_a_field_that_has_no_default_is_not_read() -> None:
    row = running()
    fields: dict[str, str | None] = {**redis.write_execution(row), "run_at": None}

    with pytest.raises(KeyError):
        redis.read_execution(
            [row.id, *(fields[name] for name in redis.EXECUTION_FIELDS), ""]  # type: ignore[list-item]
        )


def test_a_draft_is_written_as_its_execution_but_for_its_birth() -> None:
    row = Story().next_row
    assert row is not None

    born = {"created_at": redis.stamp(row.created_at)}

    assert redis.write_draft(row) | born == redis.write_execution(row)


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """Something that is stored."""

    id: str
    sent_at: datetime | None
    state: State
    color: str = ""


def test_a_field_without_a_column_is_noticed_at_once() -> None:
    columns = [Column("id", "text"), Column("sent_at", "instant"), Column("state", "state")]

    with pytest.raises(TypeError, match="Parcel is not made of id, sent_at, state"):
        Reader(Parcel, columns, {}, ())


def test_a_column_more_is_read_and_written_by_its_form() -> None:
    columns = [Column("id", "text"), Column("sent_at", "instant"), Column("state", "state")]
    columns.append(Column("colour", "text", field="color"))
    parcel = Parcel(id="1", sent_at=None, state=State.RUNNING, color="red")

    written = Writer(columns, {"state": str}, ("weight",)).write(parcel, 7)
    found = Reader(Parcel, columns, {"state": State}, ()).read(list(written.values()))

    assert written == {"id": "1", "sent_at": None, "state": "running", "colour": "red", "weight": 7}
    assert found == parcel
