import asyncio

import pytest

from sempre import Sempre
from sempre.domain.states import Kind, State
from sempre.errors import ArgumentsError, NamingError, PolicyError
from sempre.ports.messages import ExecutionQuery


def test_calling_a_job_runs_it_in_place(app: Sempre) -> None:
    @app.job
    def double(number: int) -> int:
        return 2 * number

    assert double(21) == 42


def test_calling_an_async_job_gives_its_coroutine(app: Sempre) -> None:
    @app.job
    async def double(number: int) -> int:
        return 2 * number

    assert asyncio.run(double(21)) == 42


def test_arguments_are_bound_by_name(app: Sempre) -> None:
    @app.job
    def send(region: str, *, full: bool = False, **rest: int) -> None: ...

    assert send.bind("eu", full=True, depth=3).args == {"region": "eu", "full": True, "depth": 3}


def test_arguments_that_do_not_fit_name_the_signature(app: Sempre) -> None:
    @app.job
    def send(region: str) -> None: ...

    with pytest.raises(ArgumentsError, match=r"send\(region: str\)"):
        send.bind(regoin="eu")  # type: ignore[call-arg]


def test_arguments_that_are_no_json_are_refused_by_their_path(app: Sempre) -> None:
    @app.job
    def send(region: object) -> None: ...

    with pytest.raises(ArgumentsError, match=r"args\.region"):
        send.bind(object())


def test_a_parameter_without_a_name_is_refused_where_it_is_registered(app: Sempre) -> None:
    def send(*regions: str) -> None: ...

    with pytest.raises(ArgumentsError, match="parameters that have names"):
        app.job(send)


def test_two_functions_under_one_name_are_refused(app: Sempre) -> None:
    app.job(name="send")(lambda: 1)
    with pytest.raises(NamingError, match="send"):
        app.job(name="send")(lambda: 2)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"isolation": "fork"}, "isolation"),
        ({"isolation": "async"}, "isolation"),
        ({"memory": "512MB"}, "memory"),
        ({"isolation": "process", "memory": "much"}, "memory"),
        ({"isolation": "process", "memory": 0}, "memory"),
    ],
)
def test_options_that_cannot_be_are_refused(
    app: Sempre, options: dict[str, object], named: str
) -> None:
    def work() -> None: ...

    with pytest.raises(PolicyError, match=named):
        app.job(**options)(work)  # type: ignore[call-overload]


def test_a_memory_limit_is_read_from_a_text(app: Sempre) -> None:
    @app.job(isolation="process", memory="512 MB")
    def work() -> None: ...

    assert work.task.memory == 512 * 2**20


def test_an_enqueued_call_is_a_row_like_any_other(app: Sempre) -> None:
    @app.job
    def send(region: str) -> None: ...

    receipt = send.options(queue="critical", priority=5).enqueue("eu")
    [row] = app.engine.store.executions(ExecutionQuery()).value.items
    assert receipt.created
    assert (row.id, row.kind, row.state) == (receipt.id, Kind.ENQUEUED, State.SCHEDULED)
    assert (row.snapshot.queue, row.snapshot.priority) == ("critical", 5)
    assert row.snapshot.args == {"region": "eu"}


def test_a_delay_moves_when_it_is_due(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    send.options(delay="10m").enqueue()
    [row] = app.engine.store.executions(ExecutionQuery()).value.items
    assert (row.due_at - row.created_at).total_seconds() == 600


def test_an_instant_can_be_given_instead_of_a_delay(app: Sempre) -> None:
    @app.job
    def send() -> None: ...

    send.options(at="2026-11-15T13:30:00+01:00").enqueue()
    [row] = app.engine.store.executions(ExecutionQuery()).value.items
    assert row.due_at.isoformat() == "2026-11-15T12:30:00+00:00"
