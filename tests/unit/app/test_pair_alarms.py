"""Pairs on a cron, and the alarms of pairs: events that listeners hear, and warnings in the log."""

import logging
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sempre import Cron, Every, Job, Sempre
from sempre.app.health.pairs import PairHealth, pairs_of
from sempre.app.health.reader import Reader
from sempre.engine.events import Event, Happened
from sempre.errors import CronError, InvalidInput, ZoneError
from tests.unit.app.conftest import Hand
from tests.unit.app.test_enqueuing import run_all
from tests.unit.app.test_pairs import scanned

NOON = "2026-11-15 12:00:00Z"
ALARMS = (Happened.PAIR_UNCOVERED, Happened.PAIR_FULL_SCAN, Happened.PAIR_BEHIND)


def health_of(app: Sempre) -> list[PairHealth]:
    reader = Reader(app.engine)
    return list(pairs_of(reader, reader.schedules()))


@pytest.fixture
def create(app: Sempre) -> Job[[int], None]:
    @app.job
    def create(number: int) -> None: ...

    return create


@pytest.fixture
def heard(app: Sempre) -> list[Event]:
    events: list[Event] = []
    app.on(*ALARMS)(events.append)
    return events


def test_a_pair_looks_at_the_slots_of_a_cron(app: Sempre, create: Job[[int], None]) -> None:
    create.pair(cron="*/5 9-17 * * *", timezone="Europe/Rome")(list)

    with app.testing("2026-11-15 15:58:00Z") as t:
        t.travel("15m")
        slots = [f"{row.run_at:%H:%M}" for row in t.executions("pair:create")]
        grid = app.schedule("pair:create").definition.grid

    assert grid == Cron("*/5 9-17 * * *", timezone="Europe/Rome")
    assert [slot for slot in slots if slot <= "16:13"] == ["16:00", "16:05", "16:10"]


def test_every_shard_of_a_pair_is_on_its_cron(app: Sempre, create: Job[[int], None]) -> None:
    def pending(shard: int) -> list[int]:
        return [shard]

    create.pair(cron="*/5 * * * *", shards=2)(pending)
    app.sync()

    grids = [app.schedule(f"pair:create/{shard}").definition.grid for shard in (0, 1)]
    assert grids == [Cron("*/5 * * * *")] * 2


def test_the_time_to_the_next_slot_is_how_long_a_look_on_a_cron_may_take(
    app: Sempre, create: Job[[int], None]
) -> None:
    create.pair(cron="0 9,12 * * *")(list)

    # Of a look by hand at noon the next two slots: 9:00 and 12:00.
    assert scanned(app).cadence_s == 3 * 3600


def test_a_key_that_fails_waits_for_the_cadence_of_the_cron(app: Sempre) -> None:
    @app.job
    def doomed(number: int) -> None:
        raise ValueError(f"no {number}")

    doomed.pair(cron="*/5 * * * *")(lambda: [1])

    with app.testing(NOON) as t:
        t.travel("40m")
        tries = t.executions(doomed)
        minutes = [(row.run_at - tries[0].run_at).total_seconds() / 60 for row in tries]

    assert minutes == [0, 5, 15, 35]


def test_a_pair_whose_cron_rests_at_night_is_not_stale_until_slots_are_missed(
    app: Sempre, create: Job[[int], None]
) -> None:
    create.pair(cron="*/5 9-17 * * *")(list)

    with app.testing("2026-11-15 17:40:00Z") as t:
        t.travel_to("2026-11-16 08:59:00Z")
        [resting] = health_of(app)
        app.switch("pair:create").off("forgotten")
        t.travel("20m")
        [forgotten] = health_of(app)

    assert resting.age > timedelta(hours=15)
    assert (resting.is_stale, forgotten.is_stale) == (False, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r'every="1m" or cron="\*/5 \* \* \* \*"'),
        ({"every": None, "cron": None}, "every="),
        ({"every": "1m", "cron": "* * * * *"}, "not both"),
        ({"every": "1m", "timezone": "Europe/Rome"}, "timezone.*cron="),
        ({"every": 0.1}, "every"),
    ],
)
def test_a_pair_has_one_of_both_rules(
    create: Job[[int], None], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        create.pair(**options)(list)


def test_a_cron_or_zone_that_cannot_be_read_is_refused(create: Job[[int], None]) -> None:
    with pytest.raises(CronError):
        create.pair(cron="every day")(list)
    with pytest.raises(ZoneError):
        create.pair(cron="* * * * *", timezone="Mars/Base")(list)


def test_work_that_the_contract_finds_and_the_query_does_not_is_an_alarm(
    app: Sempre, create: Job[[int], None], heard: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    create.pair(every="1m", contract=lambda: [1, 2, 3])(lambda: [1])
    app.narrate()

    with caplog.at_level(logging.WARNING, "sempre"):
        scanned(app)

    assert [event.name for event in heard] == [Happened.PAIR_UNCOVERED]
    assert heard[0].facts["pair"] == "pair:create"
    assert heard[0].facts["scan"].uncovered == 2
    [line] = caplog.messages
    assert line.startswith("pair:create misses 2 that its contract finds")
    assert 'create:{"number":2}' in line


def test_a_table_that_is_read_as_a_whole_is_an_alarm(
    app: Sempre,
    create: Job[[int], None],
    heard: list[Event],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    path = tmp_path / "own.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE databases (id INTEGER PRIMARY KEY, state TEXT)")
        numbers = [(number, "done") for number in range(12_000)]
        made.executemany("INSERT INTO databases VALUES (?, ?)", numbers)
        made.commit()
    query = "SELECT id FROM databases WHERE state = 'pending'"
    create.pair(every="1m", database=lambda: sqlite3.connect(path))(lambda: query)
    app.narrate()

    with caplog.at_level(logging.WARNING, "sempre"):
        scanned(app)

    assert [event.name for event in heard] == [Happened.PAIR_FULL_SCAN]
    assert heard[0].facts["scan"].full_scans == ["databases"]
    [line] = caplog.messages
    assert line == "pair:create reads all of databases: its query needs an index"


def test_a_pair_that_falls_behind_is_an_alarm(
    app: Sempre,
    create: Job[[int], None],
    heard: list[Event],
    caplog: pytest.LogCaptureFixture,
    clock: Hand,
) -> None:
    def pending() -> list[int]:
        clock.move(seconds=3)
        return []

    create.pair(every="2s")(pending)
    app.sync()
    clock.move(seconds=2)

    with caplog.at_level(logging.WARNING, "sempre"):
        run_all(app)

    behind = [event for event in heard if event.name is Happened.PAIR_BEHIND]
    assert {event.facts["pair"] for event in behind} == {"pair:create"}
    assert any(
        line.startswith("pair:create took 3s, and its next run was due after 2s")
        for line in caplog.messages
    )


def test_a_pair_that_is_well_raises_no_alarm(
    app: Sempre, create: Job[[int], None], heard: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    create.pair(every="1m", contract=lambda: [1])(lambda: [1])
    app.narrate()

    with caplog.at_level(logging.WARNING, "sempre"):
        scanned(app)

    assert heard == []
    assert caplog.messages == []


def test_a_pair_on_an_interval_stays_on_it(app: Sempre, create: Job[[int], None]) -> None:
    create.pair(every="90s")(list)
    app.sync()

    assert app.schedule("pair:create").definition.grid == Every(timedelta(seconds=90))
