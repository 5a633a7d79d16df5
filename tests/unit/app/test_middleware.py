"""The user's code around enqueue and perform, gates before both, and work that ends by Skip."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from sempre import Call, Sempre, Skip, current
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.executors.current import Current
from tests.unit.app.test_enqueuing import run_all


def ended(app: Sempre, *executions: Execution | None) -> list[tuple[State, str]]:
    ids = [row.id for row in executions if row is not None]
    found = app.engine.store.candidates(ids).value
    return [(each.execution.state, each.execution.reason) for each in found]


def test_what_is_around_perform_sees_every_run_from_both_sides(app: Sempre) -> None:
    told: list[str] = []

    @app.around_perform
    def outer(run: Current) -> Iterator[None]:
        told.append(f"before {run.job} {current().attempt}")
        yield
        told.append("after")

    @app.around_perform
    def inner(_: Current) -> Iterator[None]:
        told.append("inner")
        yield

    @app.job
    def send(region: str) -> str:
        told.append(region)
        return region

    receipt = send.enqueue("eu")
    run_all(app)

    assert told == ["before send 1", "inner", "eu", "after"]
    assert receipt.wait() == "eu"


def test_what_is_around_perform_is_around_async_jobs_too(app: Sempre) -> None:
    told: list[str] = []

    @app.around_perform
    def around(_: Current) -> Iterator[None]:
        told.append("before")
        try:
            yield
        finally:
            told.append("after")

    @app.job
    async def send() -> int:
        await asyncio.gather()
        told.append("within")
        return 7

    receipt = send.enqueue()
    run_all(app)

    assert (told, receipt.wait()) == (["before", "within", "after"], 7)


def test_what_a_job_raises_is_raised_at_the_yield(app: Sempre) -> None:
    seen: list[str] = []

    @app.around_perform
    def around(_: Current) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            seen.append(str(error))
            raise

    @app.job
    def fail() -> None:
        raise ValueError("no")

    row = fail.enqueue().execution
    run_all(app)

    assert seen == ["no"]
    assert ended(app, row) == [(State.FAILED, "error: ValueError: no")]


def test_what_is_around_enqueue_sees_the_calls(app: Sempre) -> None:
    seen: list[list[Mapping[str, Json]]] = []

    @app.around_enqueue
    def around(calls: Sequence[Call[Any]]) -> Iterator[None]:
        seen.append([call.args for call in calls])
        yield

    @app.job
    def send(number: int) -> None: ...

    send.enqueue(1)
    app.enqueue_many(send.bind(number) for number in (2, 3))

    assert seen == [[{"number": 1}], [{"number": 2}, {"number": 3}]]


def test_a_job_that_skips_is_on_record_with_its_reason(app: Sempre) -> None:
    @app.job(retry=3)
    def send() -> None:
        raise Skip("nothing to send")

    row = send.enqueue().execution
    run_all(app)

    assert ended(app, row) == [(State.SKIPPED, "nothing to send")]


def test_a_gate_refuses_new_work_with_its_reason(app: Sempre) -> None:
    @app.gate
    def flags(_: str, args: Mapping[str, Json]) -> str | None:
        return "the flag is off" if args.get("number") == 2 else None

    @app.job
    def send(number: int) -> None: ...

    receipts = app.enqueue_many(send.bind(number) for number in (1, 2, 3))

    assert [each.created for each in receipts] == [True, False, True]
    assert receipts[1].rejected_by == "the flag is off"


def test_a_gate_skips_what_waits_already_but_not_what_is_triggered(app: Sempre) -> None:
    closed: list[str] = []

    @app.gate
    def flags(job: str, _: Mapping[str, Json]) -> str | None:
        return "closed" if job in closed else None

    @app.every("1 day")
    def send() -> None: ...

    app.sync()
    row, manual = send.enqueue().execution, app.schedule("send").trigger()
    closed.append("send")
    run_all(app)

    assert ended(app, row, manual) == [(State.SKIPPED, "closed"), (State.SUCCEEDED, "")]


def test_a_gate_that_raises_lets_nothing_in(app: Sempre) -> None:
    @app.gate
    def flags(_job: str, _args: Mapping[str, Json]) -> str | None:
        raise ConnectionError("no flags")

    @app.job
    def send() -> None: ...

    with pytest.raises(ConnectionError):
        send.enqueue()
