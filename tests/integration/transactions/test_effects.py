"""`current().tx`: what a job writes is kept if the job succeeds, and not otherwise."""

import asyncio
from threading import Event
from typing import Any

import pytest

from sempre import GiveUp, Receipt, RetryLater, Sempre, current
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.errors import TransactionError
from sempre.executors.current import Current, running
from sempre.testing.polling import eventually
from tests.integration.transactions.places import Shop


class Expected(Exception):
    """A failure that belongs to the test."""


def write(number: int) -> None:
    cursor = current().tx.cursor()
    cursor.execute(f"INSERT INTO orders (number) VALUES ({number})")  # noqa: S608 - a number


def work_off(app: Sempre) -> None:
    with app.running(burst=True) as worker:
        worker.wait_until_exhausted()


def found(shop: Shop, receipt: Receipt[Any]) -> Execution:
    [candidate] = shop.app.engine.store.candidates([receipt.id]).value
    return candidate.execution


def test_what_a_job_writes_is_kept_with_its_result(shop: Shop) -> None:
    @shop.app.job
    def pay(number: int) -> dict[str, int]:
        write(number)
        return {"paid": number}

    @shop.app.job
    async def pay_later(number: int) -> dict[str, int]:
        await asyncio.to_thread(str)
        write(number)
        return {"paid": number}

    happened: list[Happened] = []
    shop.app.events.listen(lambda told: happened.append(told.name))
    receipts = [pay.enqueue(1), pay_later.enqueue(2)]

    work_off(shop.app)

    assert shop.place.orders == [1, 2]
    for number, receipt in enumerate(receipts, 1):
        assert found(shop, receipt).state is State.SUCCEEDED
        [attempt] = shop.app.engine.store.attempts(receipt.id).value
        assert (attempt.result, attempt.late) == ({"paid": number}, False)
    assert happened.count(Happened.SUCCEEDED) == 2
    assert not {Happened.LATE_RESULT, Happened.FAILED} & set(happened)


def test_what_a_job_writes_that_fails_is_gone(shop: Shop) -> None:
    @shop.app.job
    def pay(number: int) -> None:
        write(number)
        raise Expected

    receipt = pay.enqueue(1)
    work_off(shop.app)

    assert shop.place.orders == []
    assert found(shop, receipt).state is State.FAILED


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (RetryLater("5m", "busy"), State.SCHEDULED, "retry later: busy"),
        (GiveUp("no such order"), State.FAILED, "gave up: no such order"),
    ],
    ids=["retry later", "give up"],
)
def test_what_a_job_writes_that_ends_itself_is_gone(
    shop: Shop, error: Exception, state: State, reason: str
) -> None:
    @shop.app.job(retry=3)
    def pay(number: int) -> None:
        write(number)
        raise error

    receipt = pay.enqueue(1)
    work_off(shop.app)

    row = found(shop, receipt)
    assert shop.place.orders == []
    assert (row.state, row.reason) == (state, reason)


def test_what_a_job_writes_stays_whatever_it_returns(shop: Shop) -> None:
    @shop.app.job
    def pay(number: int) -> object:
        write(number)
        return object()

    receipt = pay.enqueue(1)
    work_off(shop.app)

    assert shop.place.orders == [1]
    assert found(shop, receipt).state is State.SUCCEEDED


def test_a_job_that_commits_itself_is_told_so(shop: Shop) -> None:
    @shop.app.job
    def pay(number: int) -> None:
        write(number)
        current().tx.cursor().execute("COMMIT")

    receipt = pay.enqueue(1)
    work_off(shop.app)

    assert "has ended the transaction" in found(shop, receipt).reason


def test_a_thread_whose_time_is_over_keeps_nothing(shop: Shop) -> None:
    told, ended = Event(), Event()

    @shop.app.job(timeout="1s")
    def pay(number: int) -> None:
        write(number)
        told.wait()
        ended.set()

    receipt = pay.enqueue(1)
    with shop.app.running() as worker:
        eventually(lambda: found(shop, receipt).state is State.FAILED)
        told.set()
        eventually(lambda: worker.executors.stuck == 0)

    assert ended.is_set()
    assert "timed out" in found(shop, receipt).reason
    assert shop.place.orders == []


def test_what_a_job_enqueues_in_its_transaction_is_rung_for_when_it_is_kept(shop: Shop) -> None:
    receipts: list[Receipt[None]] = []

    @shop.app.job
    def pay(number: int, *, fails: bool) -> None:
        write(number)
        receipts.append(shop.ship.options(tx=current().tx, queue="other").enqueue(number))
        if fails:
            raise Expected

    pay.enqueue(1, fails=False)
    work_off(shop.app)
    pay.enqueue(2, fails=True)
    work_off(shop.app)

    kept, gone = receipts
    assert shop.place.orders == [1]
    assert shop.state(kept) is State.SCHEDULED
    assert shop.state(gone) is None


def test_a_store_that_is_no_database_names_what_to_use_instead() -> None:
    app = Sempre("memory://")

    @app.job
    def pay() -> None:
        _ = current().tx

    receipt = pay.enqueue()
    work_off(app)

    [candidate] = app.engine.store.candidates([receipt.id]).value
    for word in ("current().key", "current().fence"):
        assert word in candidate.execution.reason


def test_a_run_of_a_test_has_none() -> None:
    with running(Current(name="pay")) as run, pytest.raises(TransactionError, match="a worker"):
        _ = run.tx
