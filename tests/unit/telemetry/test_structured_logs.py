"""JSON lines: an action each, and the run and the span to which a line belongs."""

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from sempre import Sempre, current
from sempre.engine.events import Events, Happened
from sempre.executors.current import Current, run_fields, running
from sempre.ports.executor import Isolation
from sempre.telemetry.logs import SENTENCES, JsonFormatter, Narrator, configure_logs
from sempre.testing.polling import eventually
from tests.unit.telemetry.test_logs import ROW, Still
from tests.unit.telemetry.tracing import recording, work_off

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "logs.md"
ROW_OF_TABLE = re.compile(r"^\| `([a-z_.]+)` \| (debug|info|warning|error) \|", re.MULTILINE)
SHOP = logging.getLogger("shop.bills")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Log as `sempre worker --log-format json` does, into a text."""
    root, text = logging.getLogger(), io.StringIO()
    before = root.handlers[:], root.level
    monkeypatch.setattr(sys, "stderr", text)
    configure_logs("json", level="debug", run_fields=run_fields)
    yield text
    root.handlers[:], level = before
    root.setLevel(level)


def objects(text: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


def line_of(text: io.StringIO, message: str) -> dict[str, Any]:
    [found] = [each for each in objects(text) if each["message"] == message]
    return found


@pytest.mark.parametrize("name", Happened)
def test_every_event_has_an_action_and_a_sentence_of_its_own(
    name: Happened, lines: io.StringIO
) -> None:
    events = Events()
    events.listen(Narrator(Still()))

    events.emit(name, execution=ROW)

    [line] = objects(lines)
    assert line["action"] == name.value
    assert name.value in SENTENCES


def test_the_reference_lists_every_action_with_its_level() -> None:
    documented = dict(ROW_OF_TABLE.findall(PAGE.read_text()))

    actions = {name: logging.getLevelName(level).lower() for name, (level, _) in SENTENCES.items()}
    assert documented == actions


def test_a_line_about_an_execution_names_it(lines: io.StringIO) -> None:
    events = Events()
    events.listen(Narrator(Still()))

    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    events.emit(Happened.SUCCEEDED, execution=ROW, seconds=1.0, traceparent=traceparent)

    [line] = objects(lines)
    told = {"execution": "01", "schedule": "bill", "job": "billing", "queue": "default"}
    spans = {
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "span_id": "b7ad6b7169203331",
    }
    assert line.items() >= (told | spans | {"attempt": 1}).items()
    assert "traceparent" not in line


@pytest.mark.parametrize("isolation", ["thread", "async"])
def test_a_line_of_a_job_has_its_run_and_its_span(isolation: Isolation, lines: io.StringIO) -> None:
    app, told = Sempre("memory://"), list[str]()

    def log() -> None:
        SHOP.info("3 customers")
        told.append(current().traceparent)

    @app.job(queue="slow")
    def bill() -> None:
        log()

    @app.job(queue="slow", name="bill later")
    async def bill_later() -> None:
        log()

    job = bill if isolation == "thread" else bill_later
    with recording():
        receipt = job.enqueue()
        work_off(app)
    app.close()

    line = line_of(lines, "3 customers")
    _, trace_id, span_id, _ = told[0].split("-")
    assert (line["trace_id"], line["span_id"]) == (trace_id, span_id)
    assert line["action"] == "job.log"
    assert line["logger"] == "shop.bills"
    assert line["execution"] == receipt.id
    assert line["schedule"] == line["job"] == job.name
    assert (line["queue"], line["attempt"], line["kind"]) == ("slow", 1, "enqueued")
    ended = [each for each in objects(lines) if each["action"] == "execution.succeeded"]
    assert [(each["trace_id"], each["span_id"]) for each in ended] == [(trace_id, span_id)]


def test_a_line_inside_of_a_span_of_the_job_has_that_span(lines: io.StringIO) -> None:
    with (
        recording() as recorded,
        running(Current(name="bill")),
        trace.get_tracer("shop").start_as_current_span("charge"),
    ):
        SHOP.info("charged")

    charge = recorded.one("charge").get_span_context()
    assert charge is not None
    assert line_of(lines, "charged")["span_id"] == f"{charge.span_id:016x}"


def test_a_line_outside_of_runs_and_spans_has_an_action_only(lines: io.StringIO) -> None:
    SHOP.info("hello")

    line = line_of(lines, "hello")
    assert line.keys() == {"at", "level", "logger", "message", "action"}
    assert line["action"] == "log"


def test_a_formatter_of_the_application_needs_no_sempre() -> None:
    record = logging.makeLogRecord({"name": "shop", "msg": "hello", "levelname": "INFO"})

    assert json.loads(JsonFormatter().format(record))["action"] == "log"


def test_no_two_lines_of_runs_at_once_mix_their_runs(lines: io.StringIO) -> None:
    app = Sempre("memory://")

    @app.job
    async def bill(number: int) -> None:
        SHOP.info("bill %d", number)

    ids = {f"bill {number}": bill.enqueue(number).id for number in range(20)}
    with app.running():
        eventually(lambda: sum(each["action"] == "job.log" for each in objects(lines)) == len(ids))
    app.close()

    found = [each for each in objects(lines) if each["action"] == "job.log"]
    assert {each["message"]: each["execution"] for each in found} == ids
