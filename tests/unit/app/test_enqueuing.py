"""Work that is put in by itself: options, uniqueness, bulk, and waiting for it."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import pytest

from sempre import Call, Receipt, Retry, Sempre, Unique
from sempre.domain.states import Kind, State
from sempre.errors import (
    ArgumentsError,
    InvalidInput,
    NotFinished,
    PolicyError,
    Refused,
    TransactionError,
    WorkFailed,
)
from sempre.ports.messages import ExecutionQuery
from sempre.testing.contracts.broker.builders import ended

ANY = ExecutionQuery()


def run_all(app: Sempre) -> None:
    with app.running(burst=True) as running:
        running.wait_until_exhausted()


def test_work_runs_as_its_job_declares(app: Sempre) -> None:
    retry = Retry(3, base="1s", cap="1m")

    @app.job(queue="slow", priority=5, retry=retry, timeout="20m", on_unknown="skip", tags=["eu"])
    def send() -> None: ...

    row = send.enqueue().execution

    assert row is not None
    assert (row.kind, row.snapshot.name, row.snapshot.job) == (Kind.ENQUEUED, "send", "send")
    assert (row.snapshot.queue, row.snapshot.priority) == ("slow", 5)
    assert (row.snapshot.retry, row.snapshot.timeout) == (retry, timedelta(minutes=20))
    assert (row.snapshot.on_unknown, row.snapshot.tags) == ("skip", ("eu",))


def test_options_of_one_enqueue_go_before_those_of_the_job(app: Sempre) -> None:
    @app.job(queue="slow", priority=5)
    def send() -> None: ...

    row = send.options(queue="fast", priority=0, delay="10m").enqueue().execution

    assert row is not None
    assert (row.snapshot.queue, row.snapshot.priority) == ("fast", 0)
    assert row.due_at - row.created_at == pytest.approx(timedelta(minutes=10), abs=timedelta(1e-5))


def test_what_a_grid_and_its_job_have_in_common_holds_for_both(app: Sempre) -> None:
    @app.every("1h", retry=2, tags=["eu"], queue="slow")
    def send() -> None: ...

    app.sync()
    row = send.enqueue().execution

    assert row is not None
    for rules in (row.snapshot, app.schedule("send").definition):
        assert (rules.retry.limit, rules.tags, rules.queue) == (2, ("eu",), "slow")


@pytest.mark.parametrize(
    "options",
    [{"queue": "no good"}, {"priority": -1}, {"delay": "soon"}, {"at": "the first of May"}],
)
def test_options_that_cannot_be_are_refused(app: Sempre, options: dict[str, object]) -> None:
    @app.job
    def send() -> None: ...

    with pytest.raises(InvalidInput, match=next(iter(options))):
        send.options(**options).enqueue()  # type: ignore[arg-type]


def test_work_may_exist_once_by_all_arguments(app: Sempre) -> None:
    @app.job(unique=True)
    def send(region: str, plan: str = "free") -> None: ...

    first = send.enqueue("eu")

    assert send.enqueue("eu", plan="free") == Receipt(first.id, created=False)
    assert send.enqueue("eu", plan="pro").created
    assert send.enqueue("us").created


def test_work_may_exist_once_by_named_arguments(app: Sempre) -> None:
    @app.job(unique=["database_id"])
    def create(database_id: int, plan: str = "free") -> None: ...

    first = create.enqueue(7)

    assert create.enqueue(7, plan="pro") == Receipt(first.id, created=False)
    assert create.enqueue(8).created
    assert create.options(unique=False).enqueue(7).created
    run_all(app)
    assert create.enqueue(7).created


def test_work_may_exist_once_in_a_period(app: Sempre) -> None:
    @app.job(unique=Unique(within="1h"))
    def greet(name: str) -> None: ...

    first = greet.enqueue("ann")
    run_all(app)

    assert greet.enqueue("ann") == Receipt(first.id, created=False)


def test_a_name_that_is_no_argument_cannot_make_work_unique(app: Sempre) -> None:
    def create(database_id: int) -> None: ...

    with pytest.raises(PolicyError, match=r"datbase_id.*database_id"):
        app.job(unique=["datbase_id"])(create)


@pytest.mark.parametrize("unique", ["database_id", [], [7], 3])
def test_what_cannot_make_work_unique_is_refused(app: Sempre, unique: object) -> None:
    def create(database_id: int) -> None: ...

    with pytest.raises(PolicyError, match="unique"):
        app.job(unique=unique)(create)  # type: ignore[call-overload]


def test_many_calls_are_put_in_at_once(app: Sempre) -> None:
    @app.job(unique=True)
    def send(number: int) -> int:
        return number

    def calls() -> Iterator[Call[int]]:
        return (send.bind(number % 1500) for number in range(2500))

    receipts = app.enqueue_many(calls(), queue="slow")

    assert sum(receipt.created for receipt in receipts) == 1500
    assert receipts[0].id == receipts[1500].id
    row = receipts[7].execution
    assert row is not None
    assert (row.snapshot.args, row.snapshot.queue) == ({"number": 7}, "slow")


def test_many_calls_are_spread_evenly(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    receipts = app.enqueue_many([send] * 60, spread="1m")
    rows = [receipt.execution for receipt in receipts]
    starts = sorted(row.due_at - row.created_at for row in rows if row is not None)

    assert starts[0] < timedelta(seconds=1)
    steps = [later - earlier for earlier, later in pairwise(starts)]
    assert max(steps) < timedelta(seconds=3)


def test_a_result_can_be_waited_for(app: Sempre) -> None:
    @app.job
    def double(number: int) -> int:
        return 2 * number

    receipt = double.enqueue(21)
    answer = ended(receipt.wait)
    run_all(app)

    assert answer() == 42
    assert asyncio.run(receipt.wait_async()) == 42


def test_whoever_waits_is_told_why_work_failed(app: Sempre) -> None:
    @app.job
    def fail() -> None:
        raise ConnectionError("no route")

    receipt = fail.enqueue()
    with pytest.raises(NotFinished, match=receipt.id):
        receipt.wait(0)
    run_all(app)

    with pytest.raises(WorkFailed, match="no route"):
        receipt.wait()


def test_work_can_be_cancelled_while_it_waits(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    receipt = send.options(delay="1h").enqueue()

    assert receipt.cancel()
    assert not receipt.cancel()
    row = receipt.execution
    assert row is not None
    assert row.state is State.CANCELLED


def test_work_is_put_in_from_an_event_loop(app: Sempre) -> None:
    @app.job
    async def double(number: int) -> int:
        return 2 * number

    async def ask() -> int:
        receipt = await double.aenqueue(21)
        await asyncio.to_thread(run_all, app)
        return await receipt.wait_async()

    assert asyncio.run(ask()) == 42


def test_arguments_of_bulk_work_are_checked_before_anything_is_put_in(app: Sempre) -> None:
    @app.job
    def send(number: int) -> None: ...

    with pytest.raises(ArgumentsError, match="send"):
        app.enqueue_many(send.bind(*each) for each in [(1,), (1, 2)])

    assert list(app.engine.store.executions(ANY).value.items) == []


def test_a_store_that_has_no_transactions_says_so(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    with pytest.raises(TransactionError, match="tx="):
        send.options(tx=object()).enqueue()


def test_there_is_nothing_to_wait_for_after_a_rejection(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    app.switch(send).off("incident", mode="reject")

    with pytest.raises(Refused, match="job:send"):
        send.enqueue().wait()
