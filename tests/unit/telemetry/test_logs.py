import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.engine.events import Events, Happened
from sempre.telemetry.logs import (
    SENTENCES,
    ConsoleFormatter,
    JsonFormatter,
    Narrator,
    configure_logs,
)

NOW = datetime(2026, 11, 15, 18, 15, tzinfo=UTC)
ROW = Execution(
    id="01",
    kind=Kind.SCHEDULED,
    run_at=NOW,
    due_at=NOW,
    snapshot=Snapshot(name="bill", job="billing"),
    state=State.RUNNING,
    created_at=NOW,
    attempt=1,
)


class Lines(logging.Handler):
    """Keeps what is logged, as a formatter writes it."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Still:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW

    def elapsed(self) -> float:
        return 0.0


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    found = logging.getLogger("test of logs")
    found.setLevel(logging.DEBUG)
    found.propagate = False
    yield found
    found.handlers.clear()


def told(logger: logging.Logger, formatter: logging.Formatter) -> tuple[Events, list[str]]:
    lines, events = Lines(formatter), Events()
    logger.addHandler(lines)
    events.listen(Narrator(Still(), logger))
    return events, lines.lines


class Moving(Still):
    """A clock that is moved by hand."""

    seconds = 0.0

    def elapsed(self) -> float:
        return self.seconds


class Bare(logging.Formatter):
    """The message and nothing else."""


@pytest.mark.parametrize(
    ("name", "facts", "line"),
    [
        (Happened.SUCCEEDED, {"seconds": 0.84}, "bill succeeded in 840 ms"),
        (
            Happened.FAILED,
            {"seconds": 2.0, "error": "ValueError: x", "retry_at": NOW + timedelta(seconds=10)},
            "bill failed after 2s: ValueError: x; retry in 10s; see: sempre execution 01",
        ),
        (
            Happened.FAILED,
            {"seconds": 200, "error": "ValueError: x", "retry_at": None},
            "bill failed after 3m: ValueError: x; no retry follows; see: sempre execution 01",
        ),
        (Happened.SKIPPED, {"verdict": "skip", "reason": "overlap"}, "bill skipped (overlap)"),
        (Happened.SKIPPED, {"verdict": "miss", "reason": "deadline"}, "bill missed (deadline)"),
        (Happened.STARTED, {"late": 0.1}, "bill started"),
        (Happened.STARTED, {"late": 4.0}, "bill started, 4s late"),
        (Happened.CANCELLED, {"reason": "requested"}, "bill cancelled (requested)"),
        (Happened.UNROUTABLE, {}, "bill left alone: this worker has no job billing"),
    ],
)
def test_an_execution_is_told_of_in_one_line(
    logger: logging.Logger, name: Happened, facts: dict[str, object], line: str
) -> None:
    events, lines = told(logger, Bare())

    events.emit(name, execution=ROW, **facts)

    assert lines == [line]


def test_every_event_of_the_engine_has_its_sentence(logger: logging.Logger) -> None:
    assert set(SENTENCES) == {str(name) for name in Happened}
    events, lines = told(logger, Bare())

    for name in Happened:
        events.emit(name, execution=ROW, schedule="bill", error="x", seconds=1.0, reason="x")

    assert len(lines) == len(Happened)


def test_a_broken_grid_is_an_error_that_names_schedule_and_cause(logger: logging.Logger) -> None:
    events, lines = told(logger, logging.Formatter("%(levelname)s %(message)s"))

    events.emit(Happened.SCHEDULE_BROKEN, schedule="tides", error="the grid raised KeyError.")

    [line] = lines
    assert line.startswith("ERROR tides has a broken grid: the grid raised KeyError.")


def test_a_pass_that_healed_nothing_is_only_for_the_curious(logger: logging.Logger) -> None:
    logger.setLevel(logging.INFO)
    events, lines = told(logger, Bare())

    events.emit(Happened.PERFORMED, lock_acquired=True, executions_created=0, purged=3)
    events.emit(Happened.PERFORMED, lock_acquired=True, executions_created=2)

    assert lines == ["watchdog: 2 executions created"]


def test_secrets_in_an_error_are_not_logged(logger: logging.Logger) -> None:
    events, lines = told(logger, JsonFormatter())

    events.emit(Happened.FAILED, execution=ROW, seconds=1, error="password=hunter2", retry_at=None)

    assert "hunter2" not in lines[0]


def test_a_text_from_elsewhere_cannot_forge_a_line_or_steer_a_terminal(
    logger: logging.Logger,
) -> None:
    events, lines = told(logger, ConsoleFormatter())

    error = "x\n18:15:01 succeeded\x1b[2J\u2028\u202e"
    events.emit(Happened.FAILED, execution=ROW, seconds=2.0, error=error)

    [line] = lines
    assert line.isprintable()
    assert "x\\n18:15:01 succeeded\\x1b[2J\\u2028\\u202e" in line


TRACE = (
    'Traceback (most recent call last):\n  File "jobs.py", line 7, in bill\nKeyError: 1\x1b[2J\n'
)


def test_the_traceback_of_a_failure_follows_its_line_where_it_is_wanted(
    logger: logging.Logger,
) -> None:
    events, plain = told(logger, ConsoleFormatter())
    full = Lines(ConsoleFormatter(tracebacks=True))
    logger.addHandler(full)

    facts = {"seconds": 2.0, "error": "KeyError: 1", "traceback": TRACE, "retry_at": None}
    events.emit(Happened.FAILED, execution=ROW, **facts)

    assert plain[0].isprintable()
    first, *rest = full.lines[0].splitlines()
    assert first == plain[0]
    assert rest == [
        "  Traceback (most recent call last):",
        '    File "jobs.py", line 7, in bill',
        "  KeyError: 1\\x1b[2J",
    ]


@pytest.mark.parametrize(
    ("level", "terminal", "wanted"),
    [("info", False, False), ("debug", False, True), ("info", True, True)],
)
def test_tracebacks_are_shown_at_debug_and_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, level: str, *, terminal: bool, wanted: bool
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    before = root.level
    stream = StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stderr", stream)

    configure_logs("text", level=level)
    record = logging.LogRecord("sempre", logging.ERROR, "", 0, "bill failed", (), None)
    record.sempre = {"traceback": "Traceback of bill"}
    root.handlers[0].handle(record)
    root.setLevel(before)

    assert ("Traceback of bill" in stream.getvalue()) is wanted


STEERING = "\x1b[2J\x9b2J\x7f\u202e\u2066\u2028\r\n18:15:01 bill succeeded"


def test_the_lines_of_other_loggers_cannot_forge_a_line_or_steer_a_terminal() -> None:
    record = logging.LogRecord("jobs\x1b[2J", 40, "", 0, "told: %s", (STEERING,), None)

    for formatter in (ConsoleFormatter(), JsonFormatter()):
        assert formatter.format(record).isprintable()
    assert "\\x1b[2J\\x9b2J\\x7f\\u202e\\u2066\\u2028\\r\\n" in ConsoleFormatter().format(record)
    assert json.loads(JsonFormatter().format(record))["message"] == f"told: {STEERING}"


def test_an_exception_of_another_logger_cannot_forge_a_line(logger: logging.Logger) -> None:
    lines = Lines(ConsoleFormatter())
    logger.addHandler(lines)

    try:
        raise ValueError(f"{STEERING}, password=hunter2")  # noqa: TRY301 - as a job may raise it
    except ValueError:
        logger.exception("it broke")

    first, *others = lines.lines[0].split("\n")
    assert first.endswith("it broke")
    assert all(line.startswith("  ") and line.isprintable() for line in others)
    assert "hunter2" not in lines.lines[0]


def test_the_result_of_a_job_is_not_logged(logger: logging.Logger) -> None:
    events, lines = told(logger, JsonFormatter())

    events.emit(Happened.SUCCEEDED, execution=ROW, seconds=1, result={"iban": "DE00"})

    assert "DE00" not in lines[0]


def test_a_console_line_has_its_time_and_its_level_where_it_matters() -> None:
    record = logging.LogRecord("sempre", logging.INFO, "", 0, "bill %s", ("ran",), None)
    record.created = NOW.timestamp()
    console = ConsoleFormatter()

    assert console.format(record) == "18:15:00 bill ran"
    record.levelno, record.levelname = logging.ERROR, "ERROR"
    assert console.format(record) == "18:15:00 error: bill ran"
    record.name = "jobs"
    assert console.format(record) == "18:15:00 [jobs] error: bill ran"


def test_a_json_line_is_one_object_with_the_facts(logger: logging.Logger) -> None:
    events, lines = told(logger, JsonFormatter())

    retry_at = NOW + timedelta(seconds=10)
    facts = {"seconds": 2.0, "error": "ValueError: x", "retry_at": retry_at}
    events.emit(Happened.FAILED, execution=replace(ROW, attempt=2), **facts)

    [line] = map(json.loads, lines)
    assert line["action"] == "execution.failed"
    assert line["level"] == "error"
    assert line["schedule"] == "bill"
    assert line["job"] == "billing"
    assert line["execution"] == "01"
    assert line["attempt"] == 2
    assert line["run_at"] == "2026-11-15T18:15:00Z"
    assert line["retry_at"] == "2026-11-15T18:15:10Z"
    assert line["at"].endswith("Z")


def test_an_exception_follows_its_line(logger: logging.Logger) -> None:
    lines = Lines(ConsoleFormatter())
    as_json = Lines(JsonFormatter())
    logger.addHandler(lines)
    logger.addHandler(as_json)

    try:
        int("no such region")
    except ValueError:
        logger.exception("it broke")

    assert "ValueError: invalid literal" in lines.lines[0]
    assert "ValueError: invalid literal" in json.loads(as_json.lines[0])["exception"]


def test_of_a_crowd_that_succeeds_the_first_are_told_and_the_others_are_counted(
    logger: logging.Logger,
) -> None:
    lines, clock, events = Lines(Bare()), Moving(), Events()
    logger.setLevel(logging.INFO)
    logger.addHandler(lines)
    events.listen(Narrator(clock, logger))

    for _ in range(1_250):
        events.emit(Happened.SUCCEEDED, execution=ROW, seconds=0.84)
    clock.seconds = 1.0
    events.emit(Happened.SUCCEEDED, execution=ROW, seconds=0.84)

    one = "bill succeeded in 840 ms"
    assert lines.lines == [*(20 * [one]), "1,230 more executions succeeded", one]
