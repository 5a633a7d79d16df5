from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Cron
from sempre.app.presentation.executions import EXECUTION
from sempre.app.presentation.schedules import Summary, history_bar
from sempre.app.presentation.slots import upcoming
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import OUTCOMES, Kind, State
from sempre.domain.switch import Switch
from sempre.ports.messages import View

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEXT = datetime(2026, 3, 1, 13, tzinfo=UTC)
SCHEDULE = Schedule(
    id="1",
    name="bill",
    definition=define(job="billing", grid=Cron("@hourly"), args={"token": "x", "region": "eu"}),
    created_at=NOW - HOUR,
    cursor=NOW - HOUR / 2,
    started=True,
    next_run_at=NEXT,
)

TOLERANT = replace(SCHEDULE, definition=SCHEDULE.definition.edited(alert_after=2))


def ran(state: State, seconds: float = 1.0, **changes: object) -> Execution:
    row = Execution(
        id="01",
        kind=Kind.SCHEDULED,
        run_at=NOW,
        due_at=NOW,
        snapshot=SCHEDULE.snapshot(),
        schedule_id="1",
        state=state,
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW + timedelta(seconds=seconds),
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def state_of(schedule: Schedule, *history: Execution, now: datetime = NOW) -> str:
    outcomes = [row for row in history if row.state in OUTCOMES]
    return Summary(schedule, history, now, timedelta(seconds=20), outcomes).state


def disabled() -> Schedule:
    return replace(SCHEDULE, definition=SCHEDULE.definition.edited(enabled=False))


@pytest.mark.parametrize(
    ("schedule", "history", "state"),
    [
        (SCHEDULE, (ran(State.SUCCEEDED),), "ok"),
        (SCHEDULE, (ran(State.FAILED), ran(State.SUCCEEDED)), "failing"),
        (SCHEDULE, (ran(State.SKIPPED, started_at=None), ran(State.FAILED)), "failing"),
        (SCHEDULE, (ran(State.SCHEDULED, failures=1),), "ok"),
        (SCHEDULE, (ran(State.RUNNING), ran(State.FAILED)), "failing"),
        (TOLERANT, (ran(State.FAILED),), "ok"),
        (TOLERANT, (ran(State.FAILED), ran(State.FAILED)), "failing"),
        (replace(SCHEDULE, next_run_at=NOW - HOUR), (ran(State.FAILED),), "failing"),
        (SCHEDULE, (), "never ran"),
        (replace(SCHEDULE, broken="backwards"), (ran(State.SUCCEEDED),), "broken"),
        (disabled(), (ran(State.FAILED),), "disabled"),
        (replace(SCHEDULE, pause=Pause()), (ran(State.FAILED),), "paused"),
        (replace(SCHEDULE, pause=Pause(until=NOW - HOUR)), (ran(State.SUCCEEDED),), "ok"),
        (replace(SCHEDULE, ended=True, next_run_at=None), (ran(State.SUCCEEDED),), "ended"),
        (replace(SCHEDULE, next_run_at=NOW - HOUR), (ran(State.SUCCEEDED),), "late"),
    ],
)
def test_one_word_says_what_matters_most(
    schedule: Schedule, history: tuple[Execution, ...], state: str
) -> None:
    assert state_of(schedule, *history) == state


def test_jitter_is_no_lateness() -> None:
    spread = replace(SCHEDULE, definition=SCHEDULE.definition.edited(jitter="30m"))

    assert state_of(spread, ran(State.SUCCEEDED), now=NEXT + HOUR / 3) == "ok"
    assert state_of(SCHEDULE, ran(State.SUCCEEDED), now=NEXT + HOUR / 3) == "late"


def test_a_history_is_drawn_from_old_to_new() -> None:
    history = [ran(State.FAILED), ran(State.SUCCEEDED, 9), ran(State.SKIPPED), ran(State.SUCCEEDED)]

    assert history_bar(history) == ".-|x"
    assert history_bar([ran(State.RUNNING), ran(State.SCHEDULED, failures=1)]) == "x>"
    assert history_bar([]) == ""
    assert history_bar([ran(State.SUCCEEDED, 0)]) == "."


def test_only_what_has_ended_took_a_time() -> None:
    assert ran(State.SUCCEEDED, 2).took == timedelta(seconds=2)
    assert ran(State.RUNNING).took is None
    assert ran(State.SCHEDULED).took is None
    assert ran(State.SKIPPED, started_at=None).took is None


def test_secrets_among_the_arguments_are_not_shown() -> None:
    assert EXECUTION.json(ran(State.SUCCEEDED))["args"] == {"token": "[redacted]", "region": "eu"}


def slots(schedule: Schedule, *rows: Execution, count: int = 2) -> list[datetime]:
    return list(upcoming(View(schedule, rows), after=NOW, count=count))


def test_what_will_run_is_the_slots_of_the_grid() -> None:
    assert slots(SCHEDULE) == [NEXT, NEXT + HOUR]


def test_a_skipped_slot_will_not_run() -> None:
    skipped = ran(State.SKIPPED, run_at=NEXT)

    assert slots(SCHEDULE, skipped) == [NEXT + HOUR, NEXT + 2 * HOUR]


def test_an_overdue_next_row_will_run_first() -> None:
    late = replace(SCHEDULE, next_run_at=NOW - HOUR)

    assert slots(late) == [NOW - HOUR, NEXT]
    assert list(upcoming(View(late), after=NOW, count=1, overdue=False)) == [NEXT]


def test_a_pause_that_ends_moves_what_will_run() -> None:
    paused = replace(SCHEDULE, pause=Pause(until=NEXT + HOUR))

    assert slots(paused) == [NEXT + HOUR, NEXT + 2 * HOUR]


def test_an_end_and_a_limit_are_respected() -> None:
    until = replace(SCHEDULE, definition=SCHEDULE.definition.edited(until=NEXT))
    limit = replace(SCHEDULE, definition=SCHEDULE.definition.edited(limit=3), starts=2)

    assert slots(until) == slots(limit) == [NEXT]


@pytest.mark.parametrize(
    "schedule",
    [
        disabled(),
        replace(SCHEDULE, pause=Pause()),
        replace(SCHEDULE, broken="backwards"),
        replace(SCHEDULE, ended=True),
    ],
)
def test_what_is_stopped_will_not_run(schedule: Schedule) -> None:
    assert slots(schedule) == []


def test_a_schedule_that_waits_for_a_limit_is_neither_ok_nor_late() -> None:
    late = replace(SCHEDULE, next_run_at=NOW - HOUR)
    history = (ran(State.SUCCEEDED),)

    summary = Summary(late, history, NOW, timedelta(seconds=20), waits_for="limit of bill")

    assert summary.state == "waiting"


def test_a_switch_goes_before_a_limit() -> None:
    switch = Switch("all", "all", mode="hold")

    late_after = timedelta(seconds=20)
    summary = Summary(SCHEDULE, (), NOW, late_after, stopped_by=switch, waits_for="limit")

    assert summary.state == "stopped"
