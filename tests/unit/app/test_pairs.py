"""Pairs: what the user's tables say should run, is put in; and how that is judged and reported."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from sempre import Call, Sempre
from sempre.clock import SystemClock
from sempre.domain.execution import Execution
from sempre.domain.pair import Scan
from sempre.domain.redaction import redacted
from sempre.domain.states import Kind, State
from sempre.engine.events import Event, Happened
from sempre.errors import NamingError, PolicyError, Skip
from sempre.executors.current import Current, running
from sempre.ports.messages import ExecutionQuery
from tests.unit.app.conftest import Hand
from tests.unit.app.test_enqueuing import run_all

DERIVED = ExecutionQuery(kinds=frozenset({Kind.DERIVED}), limit=1000)


def scanned(app: Sempre, name: str = "pair:create", **args: int) -> Scan:
    """Run a pair as a worker does, and return what it found."""
    with running(Current(name=name, job=name)):
        scan = Scan.read(app.declarations.tasks[name.partition("/")[0]].function(**args))
    assert scan is not None
    return scan


def derived(app: Sempre) -> list[Execution]:
    return list(app.engine.store.executions(DERIVED).value.items)


def test_what_should_run_is_put_in_once(app: Sempre) -> None:
    @app.job(unique=["number"])
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> list[int]:
        return [1, 2, 3]

    create.enqueue(2)
    first, second = scanned(app), scanned(app)

    assert (first.found, first.enqueued, first.already_live) == (3, 2, 1)
    assert (second.found, second.enqueued, second.already_live) == (3, 0, 3)
    assert sorted(str(row.snapshot.args["number"]) for row in derived(app)) == ["1", "3"]


def test_a_pair_is_a_schedule_that_a_worker_runs(app: Sempre, clock: Hand) -> None:
    done: list[int] = []
    told: list[Event] = []
    app.events.listen(told.append, Happened.PAIR_SCANNED)

    @app.job
    def create(number: int) -> None:
        done.append(number)

    @create.pair(every="1m", queue="default", jitter="10s")
    def pending() -> list[int]:
        return [] if done else [7]

    app.sync()
    clock.move(minutes=2)
    run_all(app)

    assert done == [7]
    assert [event.facts["pair"] for event in told] == ["pair:create"]
    assert app.schedule("pair:create").definition.jitter.total_seconds() == 10


def test_a_job_with_a_pair_is_unique_by_all_its_arguments(app: Sempre) -> None:
    @app.job
    def create(number: int, plan: str = "free") -> None: ...

    @create.pair(every="1m")
    def pending() -> list[tuple[int, str]]:
        return [(1, "free"), (1, "pro")]

    assert scanned(app).enqueued == 2
    assert not create.enqueue(1).created


@pytest.mark.parametrize(
    "items",
    [
        [7],
        [(7, "pro")],
        [{"number": 7, "plan": "pro"}],
        iter([7]),
    ],
)
def test_items_are_values_tuples_or_mappings(app: Sempre, items: object) -> None:
    @app.job
    def create(number: int, plan: str = "pro") -> None: ...

    @create.pair(every="1m")
    def pending() -> object:
        return items

    scanned(app)

    [row] = derived(app)
    assert {"plan": "pro", **row.snapshot.args} == {"number": 7, "plan": "pro"}


def test_items_may_be_calls_of_that_job_alone(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    @app.job
    def other(number: int) -> None: ...

    found: list[Call[None]] = [create.bind(7)]

    @create.pair(every="1m")
    def pending() -> Iterator[Call[None]]:
        yield from found

    assert scanned(app).enqueued == 1
    found.append(other.bind(7))
    with pytest.raises(PolicyError, match="calls of create"):
        scanned(app)


def test_starts_are_spread(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m", spread="30s")
    def pending() -> range:
        return range(30)

    scanned(app)
    starts = sorted(row.due_at for row in derived(app))

    assert 25 < (starts[-1] - starts[0]).total_seconds() < 30


def test_the_work_of_finding_is_divided_among_shards(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m", shards=2)
    def pending(shard: int, shards: int) -> list[int]:
        return [number for number in range(10) if number % shards == shard]

    app.sync()

    assert scanned(app, "pair:create/0").enqueued == 5
    assert scanned(app, "pair:create/1", shard=1).enqueued == 5
    assert app.schedule("pair:create/1").definition.args == {"shard": 1}
    assert len(derived(app)) == 10


def test_a_shard_that_is_no_longer_declared_is_skipped_with_the_remedy(app: Sempre) -> None:
    """Its schedule stays in the store when a deploy declares fewer of them."""

    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m", shards=2)
    def pending(shard: int, shards: int) -> list[int]:
        return [shard, shards]

    with pytest.raises(Skip, match=r"only 2 shards.*sempre disable pair:create/3"):
        scanned(app, "pair:create/3", shard=3)

    assert derived(app) == []


def test_everything_that_a_look_found_can_be_stored() -> None:
    """Nothing of it is named like a secret, whose value is not kept."""
    told = Scan(poison=["a"], uncovered_work=["b"], full_scans=["c"]).to_json()

    assert redacted(told) == told


def test_a_query_of_several_shards_must_know_which(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    with pytest.raises(PolicyError, match="shard"):
        create.pair(every="1m", shards=2)(list)


def test_an_async_query_is_refused(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    async def pending() -> list[int]:
        return []

    with pytest.raises(PolicyError, match="async"):
        create.pair(every="1m")(pending)


def test_a_job_has_one_pair(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    create.pair(every="1m")(list)
    with pytest.raises(NamingError, match="pair:create"):
        create.pair(every="2m")(list)


def test_an_answer_that_is_no_list_of_work_is_refused(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    create.pair(every="1m")(lambda: 7)
    with pytest.raises(PolicyError, match="an iterable"):
        scanned(app)


def test_work_that_is_no_longer_needed_is_skipped(app: Sempre) -> None:
    created: list[int] = []

    @app.job
    def create(number: int) -> None:
        created.append(number)

    @create.pair(every="1m", done=lambda number: number in (2, 3))
    def pending() -> list[int]:
        return [1, 2]

    scanned(app)
    create.enqueue(3)
    run_all(app)

    assert created == [1]
    rows = {row.snapshot.args["number"]: row for row in derived(app)}
    assert rows[2].state is State.SKIPPED
    assert rows[2].reason == "no longer needed"


def test_a_key_that_fails_is_tried_less_and_less_and_is_named_as_poison(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None:
        if number == 2:
            raise ValueError("no")

    @create.pair(every="1m")
    def pending() -> list[int]:
        return [1, 2]

    with app.testing("2026-11-15 12:00:00Z") as t:
        t.travel("190m")
        tries = [row for row in t.executions(create) if row.snapshot.args["number"] == 2]
        others = t.executions(create, state=State.SUCCEEDED)
        scan = scanned(app)
        minutes = [(row.run_at - tries[0].run_at).total_seconds() / 60 for row in tries]

    assert minutes == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    assert len(others) == 190
    assert (scan.backing_off, scan.poisoned) == (1, 1)
    assert scan.poison == ['create:{"number":2}']


def test_a_query_that_raises_is_a_failed_run(app: Sempre, clock: Hand) -> None:
    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> Iterator[int]:
        yield 1
        raise ConnectionError("no route")

    app.sync()
    clock.move(minutes=1)
    run_all(app)

    query = ExecutionQuery(job="pair:create", states=frozenset({State.FAILED}))
    [failed] = app.engine.store.executions(query).value.items
    assert "no route" in failed.reason


def test_what_the_contract_finds_and_the_pair_does_not_is_uncovered(app: Sempre) -> None:
    @app.job(unique=["number"])
    def create(number: int, plan: str = "free") -> None: ...

    told: list[timedelta] = []

    def unfinished(slo: timedelta) -> list[object]:
        told.append(slo)
        return [1, (2, "pro"), 3]

    @create.pair(every="1m", contract=unfinished, slo="10m")
    def pending() -> list[int]:
        return [1, 2]

    scan = scanned(app)

    assert told == [timedelta(minutes=10)]
    assert scan.uncovered == 1
    assert scan.uncovered_work == ['create:{"number":3}']


def test_a_switch_stops_what_a_pair_finds(app: Sempre) -> None:
    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> list[int]:
        return [1, 2]

    app.switch("create").off("incident", mode="reject")
    scan = scanned(app)

    assert (scan.found, scan.rejected, scan.enqueued) == (2, 2, 0)


def test_the_age_of_the_oldest_that_waits_is_told(app: Sempre, clock: Hand) -> None:
    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> list[int]:
        return [1, 2]

    create.enqueue(1)
    clock.move(minutes=5)
    scanned(app)
    clock.move(minutes=1)

    assert scanned(app).oldest_s == pytest.approx(360, abs=0.01)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[tuple[Sempre, Path]]:
    """An application on a SQLite file with a table of the user's own."""
    path = tmp_path / "jobs.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE databases (id INTEGER PRIMARY KEY, state TEXT)")
        rows = [("pending" if number % 4 else "ready",) for number in range(20_000)]
        connection.executemany("INSERT INTO databases (state) VALUES (?)", rows)
    app = Sempre(f"sqlite:///{path}", clock=SystemClock())
    yield app, path
    app.close()


def test_the_text_of_a_query_is_run_on_the_database_of_the_store(
    table: tuple[Sempre, Path],
) -> None:
    app, _ = table

    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> str:
        return "SELECT id FROM databases WHERE state = 'pending' AND id < 1000"

    assert (scanned(app).enqueued, scanned(app).already_live) == (749, 749)


def test_a_query_that_reads_a_big_table_as_a_whole_is_told_of(table: tuple[Sempre, Path]) -> None:
    app, path = table

    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m")
    def pending() -> str:
        return "SELECT id FROM databases WHERE state = 'broken'"

    assert scanned(app).full_scans == ["databases"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE INDEX by_state ON databases (state)")
    assert scanned(app).full_scans == []


def test_a_cursor_of_named_rows_is_read(table: tuple[Sempre, Path]) -> None:
    app, path = table

    @app.job
    def create(number: int) -> None: ...

    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row

        @create.pair(every="1m")
        def pending() -> sqlite3.Cursor:
            return connection.execute("SELECT id AS number FROM databases WHERE id < 4")

        assert scanned(app).enqueued == 3


def test_the_text_of_a_query_can_be_run_elsewhere(
    table: tuple[Sempre, Path], tmp_path: Path
) -> None:
    _, path = table
    app = Sempre(f"sqlite:///{tmp_path / 'other.db'}")

    @app.job
    def create(number: int) -> None: ...

    @create.pair(every="1m", database=lambda: sqlite3.connect(path))
    def pending() -> str:
        return "SELECT id FROM databases WHERE id < 4"

    assert scanned(app).enqueued == 3
    app.close()
