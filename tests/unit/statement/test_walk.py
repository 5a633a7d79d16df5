"""The walk through records: each kind of record, gaps between records, and evidence of grids."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from sempre import Every
from sempre.domain.definition import define
from sempre.domain.definition_history import PastDefinition, definitions_in_force
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.statement.daily_totals import DailyTotals
from sempre.domain.statement.demand import days_between
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.domain.statement.period import month_period
from sempre.domain.statement.walk import Records, Walk
from sempre.domain.states import Kind, State
from sempre.grids.instants import read_instant

PERIOD = month_period("2026-03", "UTC")
NOW = read_instant("now", "2026-04-02 00:00Z")
DAY = timedelta(days=1)
DAILY = Every("1 day")


def day(number: int) -> datetime:
    return PERIOD.start + (number - 1) * DAY


def schedule(**given: Any) -> Schedule:  # noqa: ANN401 - fields
    known: dict[str, Any] = {"created_at": day(-20), "cursor": NOW, "started": True}
    definition = define(job="bill", grid=given.pop("grid", DAILY), **given.pop("policies", {}))
    return Schedule(id="s", name="bill", definition=definition, **(known | given))


def row(number: float, **given: Any) -> Execution:  # noqa: ANN401 - fields
    slot = PERIOD.start + (number - 1) * DAY
    known: dict[str, Any] = {
        "id": f"e{number}",
        "created_at": slot,
        "kind": Kind.SCHEDULED,
        "run_at": slot,
        "due_at": slot,
        "snapshot": schedule(grid=given.pop("grid", DAILY)).snapshot(),
        "schedule_id": "s",
        "state": State.SUCCEEDED,
        "attempt": 1,
        "first_started_at": slot,
        "started_at": slot,
        "finished_at": slot + timedelta(minutes=1),
    }
    return Execution(**(known | given))


def passed(first: int, last: int, reason: str = "missed") -> SlotRange:
    count = last - first + 1
    return SlotRange(schedule_id="s", first=day(first), last=day(last), count=count, reason=reason)


def walked(
    rows: Sequence[Execution],
    ranges: Sequence[SlotRange] = (),
    *,
    of: Schedule | None = None,
    now: datetime = NOW,
    definitions: Sequence[PastDefinition] | None = None,
) -> tuple[Walk, list[SlotEntry]]:
    known = of or schedule()
    records = Records(
        schedule=known,
        definitions=definitions_in_force(known, ()) if definitions is None else definitions,
        rows=[rows],
        ranges=ranges,
        totals=DailyTotals((), PERIOD),
    )
    walk = Walk(records, PERIOD, now=now)
    return walk, list(walk.entries())


def test_a_month_of_successes_is_on_time() -> None:
    _, entries = walked([row(number) for number in range(1, 32)])

    assert [entry.outcome for entry in entries] == [Outcome.ON_TIME] * 31


def test_a_slot_without_any_record_is_unexplained() -> None:
    _, entries = walked([row(number) for number in range(1, 32) if number not in (7, 8, 31)])

    lost = [entry for entry in entries if entry.outcome is Outcome.UNEXPLAINED]
    assert [(entry.first, entry.last, entry.count) for entry in lost] == [
        (day(7), day(8), 2),
        (day(31), day(31), 1),
    ]


@pytest.mark.parametrize(
    ("given", "outcome", "reason"),
    [
        ({"failures": 2}, Outcome.RETRIED, "after 2 failures"),
        ({"crashes": 1}, Outcome.RETRIED, "after 1 failure"),
        ({"retried_at": day(5)}, Outcome.RETRIED, "retried by an operator"),
        ({"state": State.FAILED, "reason": "error: no"}, Outcome.FAILED, "error: no"),
        ({"state": State.CANCELLED, "reason": "requested"}, Outcome.CANCELLED, "requested"),
        ({"state": State.SKIPPED, "reason": "overlap"}, Outcome.SKIPPED, "overlap"),
        ({"state": State.MISSED, "reason": "deadline"}, Outcome.MISSED, "deadline"),
        ({"state": State.RUNNING}, Outcome.RUNNING, ""),
        ({"state": State.SCHEDULED, "held_by": "job:x"}, Outcome.WAITING, "held by job:x"),
        ({"first_started_at": day(4) + timedelta(seconds=61)}, Outcome.LATE, "started late"),
        ({"first_started_at": day(4) + timedelta(seconds=60)}, Outcome.ON_TIME, ""),
    ],
)
def test_a_row_has_one_outcome(given: dict[str, Any], outcome: Outcome, reason: str) -> None:
    _, entries = walked([row(number, **(given if number == 4 else {})) for number in range(1, 32)])

    assert (entries[3].outcome, entries[3].reason) == (outcome, reason)
    assert len(entries) == 31


def test_a_superseded_row_is_replaced_by_the_record_of_its_slot() -> None:
    rows = [row(number) for number in range(1, 32)]
    walk, entries = walked([*rows, row(5, id="old", state=State.SUPERSEDED, reason="drift")])

    assert (walk.replaced, len(entries)) == (1, 31)


def test_a_backfill_makes_a_slot_of_a_range_or_row_good() -> None:
    rows = [row(number) for number in range(1, 32) if number not in (10, 11, 12)]
    rows[3] = row(4, state=State.FAILED)
    more = [row(number, id=f"b{number}", kind=Kind.BACKFILL) for number in (4, 11, 20)]
    more.append(row(12, id="bad", kind=Kind.BACKFILL, state=State.FAILED))
    walk, entries = walked([*rows, *more], [passed(10, 12)])

    good = {entry.first: entry.made_good for entry in entries if entry.made_good}
    assert good == {day(4): 1, day(10): 1, day(20): 1}
    assert sum(walk.other_counts.values()) == 4


def test_ranges_are_cut_at_the_edges_of_the_month() -> None:
    rows = [row(number) for number in range(4, 29)]
    _, entries = walked(rows, [passed(-5, 3, "paused"), passed(29, 40, "disabled")])

    assert [(entry.count, entry.reason) for entry in (entries[0], entries[-1])] == [
        (3, "paused"),
        (3, "disabled"),
    ]
    assert sum(entry.count for entry in entries) == 31


def test_slots_after_the_end_of_a_schedule_are_not_demanded() -> None:
    _, entries = walked([row(number) for number in range(1, 11)], [passed(11, 31, "ended")])

    assert len(entries) == 10


def test_slots_after_the_cursor_wait_or_have_the_reason_in_force() -> None:
    rows = [row(number) for number in range(1, 11)]
    live = row(11, state=State.SCHEDULED, first_started_at=None, started_at=None, finished_at=None)
    now = day(14) + timedelta(hours=1)
    _, entries = walked([*rows, live], of=schedule(cursor=day(10)), now=now)
    assert [(entry.outcome, entry.count) for entry in entries[10:]] == [
        (Outcome.WAITING, 1),
        (Outcome.WAITING, 3),
    ]

    disabled = schedule(cursor=day(10), policies={"enabled": False})
    _, entries = walked(rows, of=disabled, now=now)
    assert [(entry.outcome, entry.reason, entry.count) for entry in entries[10:]] == [
        (Outcome.SKIPPED, "disabled", 4)
    ]


def test_nothing_is_demanded_of_a_deleted_schedule_after_its_cursor() -> None:
    gone = schedule(cursor=day(10) + timedelta(hours=1), deleted=True)
    _, entries = walked([row(number) for number in range(1, 11)], of=gone)

    assert len(entries) == 10


def test_nothing_is_demanded_before_the_schedule_was_created() -> None:
    young = schedule(created_at=day(20))
    _, entries = walked([row(number) for number in range(21, 32)], of=young)

    assert len(entries) == 11


def test_rows_of_one_other_grid_show_what_was_demanded_between_them() -> None:
    hourly = Every("1h")
    rows = [row(number) for number in range(1, 32) if number != 7]
    of = schedule(grid=hourly)
    walk, entries = walked(rows, of=of, definitions=definitions_in_force(of, ()))

    lost = [entry for entry in entries if entry.outcome is Outcome.UNEXPLAINED]
    assert [(entry.first, entry.count) for entry in lost] == [(day(7), 1)]
    # After the last row, only the present grid is known, and it is not that of the row.
    assert not walk.is_known
    assert sum(entry.count for entry in entries) == 31


def test_days_are_split_at_midnight_utc() -> None:
    tick = timedelta(microseconds=1)
    parts = list(days_between(day(1) + timedelta(hours=12), day(3)))

    assert parts == [
        (day(1) + timedelta(hours=12), day(2) - tick),
        (day(2) - tick, day(3) - tick),
        (day(3) - tick, day(3)),
    ]
    assert list(days_between(day(2) - tick, day(3) - tick)) == [(day(2) - tick, day(3) - tick)]


def test_an_entry_is_a_value() -> None:
    entry = SlotEntry(first=day(1), last=day(1), count=1, outcome=Outcome.LATE)

    assert replace(entry, made_good=1) != entry
