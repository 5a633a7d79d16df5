"""Journeys of applications that use more than schedules: pairs, middleware, transactions."""

import sqlite3
from collections.abc import Iterator
from threading import Thread

from sempre import Sempre, current
from sempre.domain.states import State
from sempre.executors.current import Current
from tests.unit.testing.shop import Shop

START = "2026-05-01 00:00Z"


def test_a_pair_puts_in_what_is_missing_and_leaves_alone_what_fails() -> None:
    app = Sempre("memory://")
    wanted, tries = {1, 2, 3}, []

    @app.job
    def create(number: int) -> None:
        tries.append(number)
        if number == 3:
            raise ConnectionError("no")
        wanted.discard(number)

    @create.pair(every="1m")
    def missing() -> list[int]:
        return sorted(wanted)

    with app.testing(START) as t:
        t.travel("1h")
        t.assert_enqueued(create, 2)
        assert len(t.executions("pair:create")) == 60

    assert tries[:3] == [1, 2, 3]
    assert 4 <= tries.count(3) <= 10
    assert wanted == {3}


def test_a_hundred_keys_that_succeed_do_not_stay_in_the_way() -> None:
    app, left = Sempre("memory://"), list(range(100))

    @app.job
    def create(number: int) -> None:
        left.remove(number)

    @create.pair(every="1m", spread="30s")
    def missing() -> list[int]:
        return left

    with app.testing(START) as t:
        t.travel("2m")
        t.assert_ran(create, times=100)


def test_middleware_is_around_the_runs_of_a_journey(shop: Shop) -> None:
    around = []

    @shop.app.around_perform
    def noted(run: Current) -> Iterator[None]:
        around.append(run.job)
        yield

    with shop.app.testing(START) as t:
        t.travel("31m")

    assert sorted(around) == ["mail", "refresh", "refresh", "report"]


def test_work_that_joins_a_transaction_is_put_in_at_once(shop: Shop) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with shop.app.testing(START) as t:
        with shop.app.transaction(connection):
            shop.mail.enqueue("bob")
        connection.execute("BEGIN")
        shop.mail.options(tx=connection).enqueue("cleo")
        connection.execute("COMMIT")
        t.travel("15s")

        t.assert_ran(shop.mail, times=2)
    connection.close()


def test_the_transaction_of_a_run_cannot_be_had() -> None:
    app = Sempre("memory://")

    @app.every("1h")
    def job() -> None:
        current().tx.execute("INSERT INTO effects VALUES (1)")

    with app.testing(START) as t:
        t.travel("1h")
        [row] = t.executions(job)

    assert row.state is State.FAILED
    assert "current().tx" in row.reason


def test_a_program_that_embeds_a_worker_is_worked_for_by_the_journey(shop: Shop) -> None:
    with shop.app.testing(START) as t, shop.app.running():
        handler = Thread(target=lambda: shop.mail.enqueue("bob"))
        handler.start()
        handler.join()
        assert shop.done == []

        t.travel("0s")
        assert shop.done == ["mail bob hello"]


def test_a_receipt_is_followed_to_its_result() -> None:
    app = Sempre("memory://")

    @app.job
    def double(number: int) -> int:
        return 2 * number

    with app.testing(START) as t:
        receipt = double.enqueue(21)
        t.travel("0s")

        assert receipt.wait(timeout="0s") == 42
