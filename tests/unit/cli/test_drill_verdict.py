"""The judgement of a drill: the grid says what was due, rows and stretches what became of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Every
from sempre.cli.drill.verdict import Evidence, Observation, Verdict, judge, why_unjudged
from sempre.domain.definition import define
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import Kind, State

SECOND = timedelta(seconds=1)
BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)
SLOTS = [BEGAN + number * SECOND * 10 for number in range(1, 4)]
NOW = SLOTS[-1] + SECOND
SCHEDULE = Schedule(
    id="1",
    name="bill",
    definition=define(job="billing", grid=Every("10s")),
    created_at=BEGAN,
    cursor=SLOTS[-1],
    started=True,
    next_run_at=SLOTS[-1] + 10 * SECOND,
)
LOOK = Observation(BEGAN, NOW, frozenset({"alive"}))


def row(slot: datetime, state: State = State.SUCCEEDED, **changes: object) -> Execution:
    """Return a row that started a second late, unless it is said otherwise."""
    started = slot + SECOND if state in (State.SUCCEEDED, State.FAILED, State.RUNNING) else None
    made = Execution(
        id=slot.isoformat(),
        kind=Kind.SCHEDULED,
        run_at=slot,
        due_at=slot,
        snapshot=SCHEDULE.snapshot(),
        schedule_id="1",
        state=state,
        created_at=slot,
        attempt=1 if started else 0,
        first_started_at=started,
        started_at=started,
        session="alive",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def judged(
    *rows: Execution,
    schedule: Schedule = SCHEDULE,
    ranges: tuple[SlotRange, ...] = (),
    under_way: tuple[Execution, ...] = (),
    slots: list[datetime] = SLOTS,
) -> Verdict:
    seen = Evidence(
        name="bill",
        schedule=schedule,
        slots=slots,
        rows=rows,
        ranges=ranges,
        under_way={each.id: each for each in under_way},
    )
    return judge(seen, LOOK)


def behind(cursor: datetime) -> Schedule:
    return replace(SCHEDULE, cursor=cursor, next_run_at=cursor + 10 * SECOND)


def test_slots_that_ran_are_well_and_the_latest_start_is_told() -> None:
    late = replace(row(SLOTS[1]), first_started_at=SLOTS[1] + SECOND * 1.5)

    account = judged(row(SLOTS[0]), late, row(SLOTS[2]))

    assert (account.due, account.ran, account.again) == (3, 3, 0)
    assert account.latest == SECOND * 1.5
    assert account.recovered == timedelta(0)
    assert account.is_well


def test_a_slot_without_a_row_or_a_stretch_is_lost() -> None:
    account = judged(row(SLOTS[0]), row(SLOTS[2]))

    assert account.lost == (SLOTS[1],)
    assert account.recovered is None
    assert not account.is_well


def test_a_superseded_row_says_nothing_of_its_slot() -> None:
    account = judged(row(SLOTS[0]), row(SLOTS[1], State.SUPERSEDED), row(SLOTS[2]))

    assert account.lost == (SLOTS[1],)


def test_a_manual_run_at_the_instant_of_a_slot_does_not_stand_for_it() -> None:
    account = judged(row(SLOTS[0]), row(SLOTS[1], kind=Kind.MANUAL), row(SLOTS[2]))

    assert account.lost == (SLOTS[1],)


def test_what_was_skipped_or_passed_in_a_stretch_is_told_with_its_reason() -> None:
    skipped = row(SLOTS[0], State.SKIPPED, reason="overlap")
    stretch = SlotRange(schedule_id="1", first=SLOTS[1], last=SLOTS[2], count=2, reason="missed")

    account = judged(skipped, ranges=(stretch,))

    assert account.not_run == {"overlap": 1, "missed": 2}
    assert account.ran == 0
    assert account.is_well


def test_what_comes_after_a_waiting_row_waits_behind_it() -> None:
    account = judged(
        row(SLOTS[0]), row(SLOTS[1], State.SCHEDULED), schedule=behind(cursor=SLOTS[0])
    )

    assert (account.ran, account.waiting, account.lost) == (1, 2, ())
    assert account.latest == NOW - SLOTS[1]
    assert account.behind
    assert account.recovered is None


def test_a_slot_before_the_next_row_is_lost_though_the_cursor_is_not_there() -> None:
    schedule = replace(behind(cursor=SLOTS[0]), next_run_at=SLOTS[2])

    account = judged(row(SLOTS[0]), row(SLOTS[2], State.PENDING), schedule=schedule)

    assert account.lost == (SLOTS[1],)


def test_a_schedule_without_a_next_row_has_lost_its_slots() -> None:
    account = judged(row(SLOTS[0]), schedule=replace(behind(SLOTS[0]), next_run_at=None))

    assert account.lost == tuple(SLOTS[1:])


def test_a_schedule_that_has_ended_owes_nothing_more() -> None:
    ended = replace(SCHEDULE, cursor=SLOTS[0], next_run_at=None, ended=True)

    account = judged(row(SLOTS[0]), schedule=ended)

    assert (account.due, account.lost) == (1, ())


def test_what_waits_for_a_run_of_its_own_schedule_is_not_behind() -> None:
    account = judged(
        row(SLOTS[0], State.RUNNING),
        row(SLOTS[1], State.SCHEDULED),
        schedule=behind(cursor=SLOTS[0]),
    )

    assert account.waiting == 2
    assert account.is_well


def test_a_run_whose_worker_is_gone_waits_for_another_one() -> None:
    account = judged(row(SLOTS[0], State.RUNNING, session="killed"), row(SLOTS[1]), row(SLOTS[2]))

    assert (account.ran, account.waiting) == (2, 1)
    assert account.behind


def test_a_slot_whose_jitter_is_not_over_is_not_due() -> None:
    later = row(SLOTS[2], State.SCHEDULED, due_at=NOW + SECOND)

    account = judged(row(SLOTS[0]), row(SLOTS[1]), later, schedule=behind(SLOTS[1]))

    assert (account.due, account.waiting) == (2, 0)
    assert account.is_well


def test_recovery_lasts_until_the_last_start_that_was_late() -> None:
    late = replace(row(SLOTS[0]), first_started_at=SLOTS[0] + 8 * SECOND)
    late = replace(late, started_at=late.first_started_at)

    account = judged(late, row(SLOTS[1]), row(SLOTS[2]))

    assert account.recovered == SLOTS[0] + 8 * SECOND - BEGAN
    assert account.latest == 8 * SECOND


def test_a_run_that_was_interrupted_counts_as_started_again_when_another_took_it() -> None:
    before = row(BEGAN - SECOND, State.RUNNING, started_at=BEGAN - SECOND, session="killed")
    after = replace(
        before, state=State.SUCCEEDED, attempt=2, crashes=1, started_at=BEGAN + 4 * SECOND
    )

    account = judged(after, *map(row, SLOTS), under_way=(before,))

    assert (account.due, account.ran, account.again) == (4, 4, 1)
    assert account.recovered == 4 * SECOND


def test_a_retry_after_a_failure_is_no_second_start() -> None:
    tried = row(SLOTS[0], attempt=2, failures=1, due_at=SLOTS[0] + 5 * SECOND)

    account = judged(tried, row(SLOTS[1]), row(SLOTS[2]))

    assert account.again == 0
    assert account.recovered == timedelta(0)


def test_what_had_been_started_again_before_is_not_the_drills() -> None:
    before = row(BEGAN - SECOND, State.RUNNING, attempt=2, started_at=BEGAN - SECOND)

    account = judged(replace(before, state=State.SUCCEEDED), slots=[], under_way=(before,))

    assert (account.due, account.ran, account.again) == (1, 1, 0)
    assert account.recovered == timedelta(0)


def test_work_without_a_schedule_is_followed_to_its_end() -> None:
    waiting = row(BEGAN, State.SCHEDULED, kind=Kind.ENQUEUED, schedule_id=None)
    under_way = {waiting.id: waiting}

    still = judge(Evidence(name="", rows=[waiting], under_way=under_way), LOOK)
    ended = replace(row(BEGAN), kind=Kind.ENQUEUED, schedule_id=None)
    done = judge(Evidence(name="", rows=[ended], under_way=under_way), LOOK)

    assert still.behind
    assert (done.due, done.ran, done.is_well) == (1, 1, True)


PAUSED = replace(SCHEDULE, pause=Pause())


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (SCHEDULE, SCHEDULE, ""),
        (SCHEDULE, replace(SCHEDULE, revision=2, starts=5), ""),
        (SCHEDULE, None, "deleted during the drill"),
        (SCHEDULE, replace(SCHEDULE, id="2"), "deleted during the drill"),
        (SCHEDULE, PAUSED, "changed during the drill"),
        (SCHEDULE, replace(SCHEDULE, broken="no"), "broken"),
        (PAUSED, PAUSED, "paused"),
        *((each, each, "ended") for each in [replace(SCHEDULE, ended=True)]),
        *((each, each, "not started") for each in [replace(SCHEDULE, started=False)]),
        *((each, each, "") for each in [replace(SCHEDULE, pause=Pause(until=BEGAN - SECOND))]),
    ],
)
def test_a_schedule_that_owes_nothing_is_not_judged(
    before: Schedule, after: Schedule | None, reason: str
) -> None:
    assert why_unjudged(before, after, BEGAN) == reason
