"""What a job returned: it never fails the run, and `wait()` gives exactly that or says why not."""

import logging
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal

import pytest

from sempre import Receipt, Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.arguments import Json
from sempre.domain.states import State
from sempre.engine.events import Event, Happened
from sempre.errors import ArgumentsError, ResultError, ResultNotJson, ResultTooLarge
from sempre.stores.memory import MemoryStore
from tests.promises.driven import Hand


class Opaque:
    def __repr__(self) -> str:
        raise SystemExit("no text for you")


def run_all(app: Sempre) -> None:
    with app.running(burst=True) as running:
        running.wait_until_exhausted()


def returned(app: Sempre, value: object) -> Receipt[object]:
    @app.job(name="give")
    def give() -> object:
        return value

    receipt = give.enqueue()
    run_all(app)
    return receipt


def test_a_run_succeeds_once_whatever_it_returns(app: Sempre) -> None:
    calls = []

    @app.job(retry=5)
    def charge() -> Decimal:
        calls.append(1)
        return Decimal("99.90")

    receipt = charge.enqueue()
    run_all(app)

    row = receipt.execution
    assert row is not None
    assert (row.state, row.attempt, calls) == (State.SUCCEEDED, 1, [1])


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: Decimal("99.90"), "Decimal('99.90')"),
        (lambda: {"rows": {1}}, "{'rows': {1}}"),
        (lambda: "a\0b", "'a\\x00b'"),
        (lambda: 2**70, "1180591620717411303424"),
        (lambda: subprocess.CompletedProcess(["true"], 0), "CompletedProcess(args=['true']"),
        (Opaque, "Opaque"),
    ],
)
def test_waiting_for_a_value_that_is_no_json_raises_an_error_that_has_its_repr(
    app: Sempre, make: Callable[[], object], shown: str
) -> None:
    value = make()
    receipt = returned(app, value)

    with pytest.raises(ResultNotJson, match=receipt.id) as refusal:
        receipt.wait()

    assert isinstance(refusal.value, ResultError)
    assert shown in refusal.value.text
    assert refusal.value.type_name.endswith(type(value).__name__)


def test_waiting_for_a_result_over_the_limit_names_size_limit_and_setting(clock: Hand) -> None:
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock, result_limit=2000)
    receipt = returned(app, "x" * 1999)

    with pytest.raises(ResultTooLarge) as refusal:
        receipt.wait()

    assert (refusal.value.size, refusal.value.limit) == (2001, 2000)
    for word in (receipt.id, "2,001", "2,000", "result_limit"):
        assert word in str(refusal.value)
    row = receipt.execution
    assert row is not None
    assert row.state is State.SUCCEEDED


def test_a_higher_limit_lets_large_results_through(clock: Hand) -> None:
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock, result_limit=200_000)

    assert returned(app, ["x" * 100] * 1500).wait() == ["x" * 100] * 1500


@pytest.mark.parametrize(
    "value",
    [
        {"key": "a", "monkey": 1, "primary_key": 7},
        {"password": "hunter2", "nested": [{"token": "abc", "API-Key": 3}]},
        {"$sempre": "repr", "text": "1", "type": "int"},
        {"$sempre": "plain", "value": {"$sempre": "too_large", "bytes": 1, "limit": 2}},
        {"$sempre": None},
        "postgresql://ann:hunter2@db/x",
    ],
)
def test_what_a_job_returned_is_what_waiting_gives(app: Sempre, value: Json) -> None:
    assert returned(app, value).wait() == value


def test_redact_of_a_job_and_of_the_app_masks_before_storing(clock: Hand) -> None:
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock, redact=["Card-Number"])

    @app.job(redact=["iban"])
    def pay(iban: str) -> dict[str, Json]:
        return {"IBAN": iban, "card_number": "4111", "token": "kept", "ibans": 2}

    receipt = pay.enqueue("IT60")
    run_all(app)

    masked = {"IBAN": "[redacted]", "card_number": "[redacted]", "token": "kept", "ibans": 2}
    assert receipt.wait() == masked
    assert receipt.execution is not None
    assert receipt.execution.snapshot.args == {"iban": "IT60"}


def test_redact_masks_what_an_error_says(app: Sempre) -> None:
    @app.job(redact=["iban"])
    def pay(iban: str) -> None:
        raise ValueError(f"no account: iban={iban}")

    receipt = pay.enqueue("IT60")
    run_all(app)

    [attempt] = app.engine.store.attempts(receipt.id).value
    assert "iban=[redacted]" in attempt.error
    assert "IT60" not in attempt.error


def test_a_value_that_is_not_stored_is_warned_of_once_per_job(
    app: Sempre, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Event] = []
    app.on(Happened.RESULT_NOT_STORED)(heard.append)

    @app.job
    def charge() -> Decimal:
        return Decimal("99.90")

    @app.job
    def export() -> str:
        return "x" * 100_000

    with caplog.at_level(logging.WARNING, "sempre"):
        for _ in range(3):
            charge.enqueue()
            export.enqueue()
        run_all(app)
        charge.enqueue()
        run_all(app)

    assert sorted(event.facts["job"] for event in heard) == ["charge", "export"]
    warnings = sorted(each.getMessage() for each in caplog.records if "return" in each.message)
    assert len(warnings) == 2
    assert "charge returned a decimal.Decimal, which is not JSON" in warnings[0]
    assert "export returned 100,002 bytes of JSON" in warnings[1]
    assert "result_limit" in warnings[1]


def test_a_generator_is_refused_as_a_job_since_its_body_would_never_run(app: Sempre) -> None:
    def numbers() -> Iterator[int]:
        yield 1

    async def later() -> AsyncIterator[int]:
        yield 1

    for function in (numbers, later):
        with pytest.raises(ArgumentsError, match="never run"):
            app.job(function)
