"""Contracts of values: every written value reads back equal, to the microsecond."""

# ruff: noqa: S101 - a contract asserts

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sempre.domain.policies import Retry
from sempre.domain.schedule import Pause
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids import Cron, Every, Grid
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    draft_schedule,
    history_of,
    new_id,
    now_of,
    read,
    row_of,
    started,
    view_of,
)


class _Tides(Grid, name="sempre.testing.tides"):
    def __init__(self, *, hours: int) -> None:
        self.hours = hours

    def after(self, t: datetime) -> datetime | None:
        return t + timedelta(hours=self.hours)

    def parameters(self) -> dict[str, Any]:
        return {"hours": self.hours}


def test_every_field_of_a_definition_reads_back_equal(store: Store) -> None:
    """Every field that a user can declare is stored, to the microsecond."""
    odd = timedelta(days=3, microseconds=7)
    schedule = draft_schedule(
        store,
        args={"region": "eu"},
        queue="slow.lane",
        priority=2**31 - 1,
        enabled=False,
        catch_up=True,
        catch_up_within=odd,
        catch_up_max=0,
        tolerance=odd,
        deadline=odd,
        overlap="replace",
        jitter=timedelta(microseconds=999_999),
        until=datetime(2999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        limit=12,
        retry=Retry(
            5,
            base=timedelta(seconds=1, microseconds=1),
            cap="1d",
            jitter=timedelta(microseconds=1),
            only=(OSError, "myapp.errors.Büsy"),
            never=TimeoutError,
        ),
        timeout=odd,
        on_unknown="hold",
        retention=odd,
        keep=2**31 - 1,
        tags=["eu", "a.b:c/d-e"],
        owner="payments",
        note="first line\nsecond ✓ 'quoted' \"twice\" \\ %s {} ?",
    )
    assert store.create([Birth(schedule)]) == [True]

    assert view_of(store) == View(schedule)


def test_a_schedule_in_the_middle_of_its_life_reads_back_equal(store: Store) -> None:
    """The progress of a schedule is stored as exactly as the declaration."""
    now = now_of(store).replace(microsecond=123_457)
    pause = Pause(until=now + HOUR, note="deploy ✓", actor="ana")
    schedule = copy_with(
        draft_schedule(store),
        cursor=now - HOUR,
        revision=2**40,
        starts=41,
        started=True,
        pause=pause,
        broken="raised ValueError",
        ended=True,
        next_run_at=now + timedelta(microseconds=1),
    )
    other = copy_with(schedule, id=new_id(), name="other", pause=Pause())
    assert store.create([Birth(schedule), Birth(other)]) == [True, True]

    assert view_of(store).schedule == schedule
    assert view_of(store, "other").schedule == other


def test_every_field_of_an_execution_reads_back_equal(store: Store) -> None:
    """All that a row knows is stored, to the microsecond."""
    schedule = draft_schedule(store, retry=3, timeout="1h", deadline="1d", overlap="allow")
    begun = schedule.cursor.replace(microsecond=1)
    row = row_of(
        View(schedule),
        begun,
        kind=Kind.BACKFILL,
        due_at=begun + timedelta(microseconds=1),
        state=State.FAILED,
        reason="error: ✗ 'boom'",
        actor="ana",
        tzdata="2025.12",
        created_at=begun - timedelta(microseconds=3),
        attempt=4,
        failures=2,
        crashes=1,
        first_started_at=begun + timedelta(microseconds=2),
        started_at=begun + timedelta(microseconds=999_999),
        finished_at=begun + timedelta(seconds=1),
        fence=0,
        session=new_id(),
        held_by="maintenance",
    )
    assert store.create([Birth(schedule, (row,))]) == [True]

    assert read(store, row.id) == row
    assert history_of(store, schedule) == [row]


def test_arguments_read_back_unchanged(store: Store) -> None:
    """Arguments keep their JSON types, without conversions by the database."""
    args = {
        "text": "Ünïcödé ✓ 😀 \u2028 'single' \"double\" back\\slash %s :name ?",
        "numbers": [2**53 + 1, -(2**63) + 1, 2**63 - 1, 0, 1.0, 0.1, -1.5e300, 5e-324],
        "nested": {"deep": [[], {}, [None, [True, False, 1, 0]]], "": ""},
        "null": None,
        "schlüssel.mit:punkt": {"a": {"b": {"c": [{"d": "e"}]}}},
    }
    schedule = draft_schedule(store, args=args)
    assert store.create([started(schedule, at=schedule.created_at)]) == [True]

    view = view_of(store)

    told = json.dumps(args, sort_keys=True)
    assert json.dumps(view.schedule.definition.args, sort_keys=True) == told
    assert json.dumps(view.rows[0].snapshot.args, sort_keys=True) == told


def test_grids_read_back_equal(store: Store) -> None:
    """A grid reads back as an equal rule, with the zone and the behaviour at clock changes."""
    rome = "Europe/Rome"
    grids: list[Grid] = [
        Every(90),
        Every("1 month", anchor="2026-01-31 09:00:00.000001", timezone=rome, gap="skip"),
        Every("1d", timezone="America/New_York", fold="both"),
        Cron("0 2,14 * * *", timezone=rome, gap="skip", fold="last"),
        Cron("*/5 0 2 L * ?", timezone="Australia/Lord_Howe"),
        Cron("@daily"),
    ]
    schedules = [draft_schedule(store, f"b{at}", grid=grid) for at, grid in enumerate(grids)]
    assert store.create([started(each, at=each.created_at) for each in schedules]) == [True] * 6

    for schedule in schedules:
        view = view_of(store, schedule.name)
        assert view.schedule.definition == schedule.definition
        assert view.rows[0].snapshot.grid == schedule.definition.grid


def test_texts_of_the_longest_kind_read_back_equal(store: Store) -> None:
    """Every text that the domain accepts fits, counted in characters and not in bytes."""
    name, word = "請" * 200, "w" * 100
    schedule = draft_schedule(
        store,
        name,
        job="求" * 200,
        queue=word,
        owner=word,
        tags=[f"{letter}{word[1:]}" for letter in "abcdefgh"],
        note="✓" * 2000,
        args={"text": "x" * 65_000},
    )
    birth = started(schedule, at=schedule.created_at)
    row = copy_with(birth.rows[0], reason="error: " + "✗" * 2000, actor="ana" * 50)
    assert store.create([Birth(birth.schedule, (row,))]) == [True]

    assert view_of(store, name) == View(birth.schedule, (row,))


def test_a_grid_of_ones_own_reads_back_equal(store: Store) -> None:
    """By the name of the class and the parameters."""
    schedule = draft_schedule(store, grid=_Tides(hours=6))
    assert store.create([started(schedule, at=schedule.created_at)]) == [True]

    view = view_of(store)

    assert view.schedule.definition.grid == _Tides(hours=6)
    assert view.rows[0].snapshot.grid == _Tides(hours=6)
