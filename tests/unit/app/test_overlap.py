"""overlap="replace" is refused for jobs in threads, wherever a schedule gets it."""

from collections.abc import Callable
from typing import Any

import pytest

from sempre import Every, Sempre
from sempre.app import Job
from sempre.errors import PolicyError

Declare = Callable[[Sempre, Job[[], Any]], object]


def work() -> None:
    """Stand for the user's function."""


async def async_work() -> None:
    """Stand for the user's function on an event loop."""


def by_decorator(app: Sempre, job: Job[[], Any]) -> None:
    app.every("1h", name="billing", overlap="replace")(job)


def by_cron(app: Sempre, job: Job[[], Any]) -> None:
    app.cron("0 * * * *", name="billing", overlap="replace")(job)


def by_add(app: Sempre, job: Job[[], Any]) -> None:
    app.add("billing", Every("1h"), job, overlap="replace")


def at_run_time(app: Sempre, job: Job[[], Any]) -> None:
    app.create_schedules([("billing", Every("1h"), job)], overlap="replace")


def by_edit(app: Sempre, job: Job[[], Any]) -> None:
    app.add("billing", Every("1h"), job)
    app.sync()
    app.schedule("billing").edit(overlap="replace")


def by_edit_of_one_of_all(app: Sempre, job: Job[[], Any]) -> None:
    app.add("billing", Every("1h"), job)
    app.sync()
    app.schedules["billing"].edit(overlap="replace")


everywhere = pytest.mark.parametrize(
    "declare", [by_decorator, by_cron, by_add, at_run_time, by_edit, by_edit_of_one_of_all]
)


@everywhere
def test_a_thread_cannot_be_replaced(app: Sempre, declare: Declare) -> None:
    with pytest.raises(PolicyError) as refused:
        declare(app, app.job(name="bill")(work))

    told = str(refused.value)
    assert told.startswith('overlap of the schedule billing: "replace" is not accepted')
    assert "The job bill runs in a thread" in told
    assert 'isolation="process", or as an async def' in told


@everywhere
def test_a_process_can(app: Sempre, declare: Declare) -> None:
    declare(app, app.job(name="bill", isolation="process")(work))
    app.sync()

    assert app.schedule("billing").definition.overlap == "replace"


@everywhere
def test_a_coroutine_can(app: Sempre, declare: Declare) -> None:
    declare(app, app.job(name="bill")(async_work))
    app.sync()

    assert app.schedule("billing").definition.overlap == "replace"


def test_an_async_function_in_a_thread_cannot(app: Sempre) -> None:
    with pytest.raises(PolicyError, match="overlap of the schedule"):
        by_add(app, app.job(name="bill", isolation="thread")(async_work))


def test_an_edit_of_anything_else_is_not_refused(app: Sempre) -> None:
    by_add(app, app.job(name="bill", isolation="process")(work))
    app.sync()
    elsewhere = Sempre(app.engine.store, broker=app.engine.bell.broker, clock=app.clock)
    elsewhere.job(name="bill")(work)

    elsewhere.schedule("billing").edit(priority=7)

    assert app.schedule("billing").definition.priority == 7


def test_the_overlap_of_a_job_that_is_unknown_here_is_not_judged(app: Sempre) -> None:
    app.add("billing", Every("1h"), app.job(name="bill")(work))
    app.sync()
    elsewhere = Sempre(app.engine.store, broker=app.engine.bell.broker, clock=app.clock)

    elsewhere.schedule("billing").edit(overlap="replace")

    assert app.schedule("billing").definition.overlap == "replace"
