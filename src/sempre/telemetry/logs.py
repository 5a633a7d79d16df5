"""Logs: events of the engine as lines of the standard `logging` module.

`Narrator` listens to the engine's events and logs each as one readable sentence under `sempre`,
with the facts as fields. A formatter decides the look of a line: `ConsoleFormatter` for people,
`JsonFormatter` for machines. An application with its own logging needs the narrator only.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from sempre.clock import Clock
from sempre.domain.execution import Execution
from sempre.domain.pair import Scan
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.switch import Switch
from sempre.domain.unreadable import Unreadable
from sempre.errors import printable, printable_json
from sempre.telemetry import executions, outages, pairs, schedules
from sempre.telemetry.executions import length
from sempre.telemetry.log_sampling import Sample
from sempre.telemetry.traces import current_span_ids, span_ids

__all__ = ["ConsoleFormatter", "JsonFormatter", "LoggedEvent", "Narrator", "configure_logs"]

logger = logging.getLogger("sempre")

LogFormat = Literal["text", "json"]
REPLACED = (
    "the store {} is gone: it was emptied, or its file was removed or replaced; this worker stops "
    "its runs and begins anew on the present store"
)
PASS, SUCCEEDED = "perform", "execution.succeeded"
# The actions of lines that no event stands behind: outside of runs, and in a run.
OTHER, IN_RUN = "log", "job.log"
# A pass that found nothing is not worth a line; one that healed something is.
HEALED = ("executions_created", "orphans_enqueued", "rung_again", "schedules_failed")


class LoggedEvent(Protocol):
    """An event of the engine: a name and facts."""

    @property
    def name(self) -> str:
        """What happened, such as `execution.succeeded`."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts of the event."""
        ...


class Narrator:
    """Logs events as sentences; a listener for `Events.listen`.

    The first twenty successful runs of a second get a line each, the others share one line. At
    level DEBUG every run has a line of its own.
    """

    def __init__(self, clock: Clock, to: logging.Logger = logger) -> None:
        """Log to a logger; the clock is asked how far away a retry is."""
        self._clock = clock
        self._logger = to
        self._succeeded = Sample(clock)

    def hears(self, name: str) -> bool:
        """Return whether an event of this name would be logged at the present level."""
        level = logging.INFO if name == PASS else SENTENCES.get(name, _OTHERS)[0]
        return self._logger.isEnabledFor(level)

    def __call__(self, event: LoggedEvent) -> None:
        """Log one event."""
        level, sentence = SENTENCES.get(event.name, _OTHERS)
        if event.name == PASS and any(event.facts.get(name) for name in HEALED):
            level = logging.INFO
        if self._logger.isEnabledFor(level) and self._has_own_line(event.name):
            self._log(level, event.name, sentence(event.facts, self._clock.now()), event.facts)

    def _has_own_line(self, name: str) -> bool:
        """Return whether an event gets a line of its own; log the number of those that got none."""
        if self._logger.isEnabledFor(logging.DEBUG):
            return True
        if left := self._succeeded.left_out():
            more = {"executions": left}
            self._log(logging.INFO, SUCCEEDED, f"{left:,} more executions succeeded", more)
        return name != SUCCEEDED or self._succeeded.admit()

    def _log(self, level: int, name: str, sentence: str, facts: Mapping[str, Any]) -> None:
        text = printable(redacted_text(sentence))
        fields = {"action": str(name), **_fields(facts)}
        self._logger.log(level, "%s", text, extra={"sempre": fields})


class ConsoleFormatter(logging.Formatter):
    """One line for people: the time of day in UTC, the level from WARNING on, the sentence."""

    def __init__(self, *, tracebacks: bool = False) -> None:
        """Choose whether the traceback of a failed run follows its line."""
        super().__init__()
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the traceback if the record carries an exception."""
        at = datetime.fromtimestamp(record.created, UTC)
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        source = "" if record.name == logger.name else f"[{printable(record.name)}] "
        line = f"{at:%H:%M:%S} {source}{level}{printable(_message(record))}"
        # Indented, so that no text of an exception passes for a log line.
        return "\n  ".join((line, *(printable(each) for each in self._trace(record))))

    def _trace(self, record: logging.LogRecord) -> list[str]:
        """Return the lines of an exception, or of a run's traceback where tracebacks are shown."""
        if record.exc_info:
            return redacted_text(self.formatException(record.exc_info)).split("\n")
        trace = getattr(record, "sempre", {}).get("traceback") if self._tracebacks else None
        return str(trace).splitlines() if trace else []


class JsonFormatter(logging.Formatter):
    """One JSON object a line: at, level, logger, message, action, and the fields of the event.

    The action of an event is the name of the event. Other lines have the action `job.log` in a run,
    and `log` outside. The ids of the current span are added, if there is one.

    Args:
        run_fields: returns the fields of the run that this code belongs to; empty outside of a run.
    """

    def __init__(self, run_fields: Callable[[], Mapping[str, object]] = dict) -> None:
        """Format lines with the fields of the current run."""
        super().__init__()
        self._run_fields = run_fields

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as a line."""
        at = datetime.fromtimestamp(record.created, UTC)
        told: dict[str, object] = {
            "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            "action": OTHER,
            **current_span_ids(),
            **self._told(record),
        }
        if record.exc_info:
            told["exception"] = redacted_text(self.formatException(record.exc_info))
        return printable_json(told, default=str)

    def _told(self, record: logging.LogRecord) -> Mapping[str, object]:
        """Return the fields of the event of a record, or of the run in which it was made."""
        event = getattr(record, "sempre", None)
        if event is not None:
            return event  # type: ignore[no-any-return]
        run = self._run_fields()
        return {"action": IN_RUN, **run} if run else run


def configure_logs(
    style: LogFormat,
    *,
    level: str = "info",
    run_fields: Callable[[], Mapping[str, object]] = dict,
) -> None:
    """Let everything that is logged in this process go to stderr, as text or as JSON.

    As text the tracebacks of failed runs are shown at DEBUG and on a terminal. JSON lines of a run
    carry the fields that `run_fields` returns.
    """
    handler = logging.StreamHandler(sys.stderr)
    tracebacks = level.upper() == "DEBUG" or sys.stderr.isatty()
    text = ConsoleFormatter(tracebacks=tracebacks)
    handler.setFormatter(JsonFormatter(run_fields) if style == "json" else text)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def _message(record: logging.LogRecord) -> str:
    """Return the text of a record without secrets; the narrator has masked its own already."""
    text = record.getMessage()
    return text if hasattr(record, "sempre") else redacted_text(text)


def _performed(facts: Mapping[str, Any], _now: datetime) -> str:
    names = (name for name in (*HEALED, "purged") if facts.get(name))
    counts = [f"{facts[name]} {name.replace('_', ' ')}" for name in names]
    if not facts.get("lock_acquired"):
        return "watchdog: another pass was faster"
    return f"watchdog: {', '.join(counts) or 'nothing to heal'}"


def _watchdog_enqueued(facts: Mapping[str, Any], _now: datetime) -> str:
    every, at = length(facts.get("interval")), _plain(facts.get("runs_at"))
    return f"watchdog: message {facts.get('id')} in {facts.get('lane')} runs at {at}, every {every}"


def _broker_down(facts: Mapping[str, Any], _now: datetime) -> str:
    return f"broker down: {facts.get('error')}; next try in {length(facts.get('retry_in'))}"


def _broker_deaf(facts: Mapping[str, Any], _now: datetime) -> str:
    what = f"broker deaf: it takes the tickets of {facts.get('lane')} and delivers none"
    return f"{what}; the store serves until the broker is heard again"


def _clock_jumped(facts: Mapping[str, Any], _now: datetime) -> str:
    return f"the store's clock jumped by {facts.get('seconds', 0.0):.1f}s"


def _switched_off(facts: Mapping[str, Any], _now: datetime) -> str:
    switch = facts.get("switch")
    if not isinstance(switch, Switch):
        return "a switch is off"
    rejected = f", {switch.rejected} rejected" if switch.rejected else ""
    return f"{switch.name} is off ({switch.mode}{rejected}): {switch.reason}"


def _any(facts: Mapping[str, Any], _now: datetime) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())


def _saying(text: str, *keys: str) -> "Sentence":
    """Return a sentence that needs only some facts filled in."""
    return lambda facts, _now: text.format(*(facts.get(key) for key in keys))


Sentence = Callable[[Mapping[str, Any], datetime], str]
"""Puts the facts of an event into words; the instant is the present."""

SENTENCES: dict[str, tuple[int, Sentence]] = {
    "execution.started": (logging.DEBUG, executions.started),
    "execution.succeeded": (logging.INFO, executions.succeeded),
    "execution.failed": (logging.ERROR, executions.failed),
    "execution.retry_later": (logging.INFO, executions.retry_later),
    "execution.cancelled": (logging.WARNING, executions.cancelled),
    "execution.skipped": (logging.INFO, executions.skipped),
    "result.not_stored": (logging.WARNING, executions.result_not_stored),
    "execution.late_result": (logging.WARNING, executions.late_result),
    "execution.rescued": (logging.WARNING, executions.rescued),
    "execution.released": (logging.INFO, executions.released),
    "execution.unroutable": (logging.DEBUG, executions.unroutable),
    "work.unserved": (logging.WARNING, schedules.unserved),
    "schedule.unknown_grid": (logging.WARNING, schedules.failing("has a grid unknown here")),
    "schedule.faulty": (logging.ERROR, schedules.failing("cannot be planned")),
    "schedule.broken": (logging.ERROR, schedules.broken),
    "schedule.mended": (logging.INFO, schedules.mended),
    "row.unreadable": (logging.WARNING, _saying("{} is left alone: {}", "schedule", "error")),
    "schedule.pruned": (logging.WARNING, schedules.declared("disabled by this deploy")),
    "schedule.enabled": (logging.INFO, schedules.declared("enabled by this deploy")),
    "schedule.orphaned": (logging.WARNING, schedules.declared("orphaned")),
    "schedule.withheld": (logging.WARNING, schedules.declared("stays disabled")),
    "schedule.adopted": (logging.WARNING, schedules.declared("adopted by this deploy")),
    "schedule.outdated": (logging.WARNING, schedules.declared("is not changed by this deploy")),
    "pair.scanned": (logging.INFO, pairs.scanned),
    "pair.uncovered": (logging.WARNING, pairs.uncovered),
    "pair.full_scan": (logging.WARNING, pairs.full_scan),
    "pair.behind": (logging.WARNING, pairs.behind),
    "switch.off": (logging.WARNING, _switched_off),
    "watchdog.enqueued": (logging.INFO, _watchdog_enqueued),
    "perform_start": (logging.DEBUG, _saying("watchdog: a pass begins")),
    "perform": (logging.DEBUG, _performed),
    "broker.unavailable": (logging.WARNING, _broker_down),
    "broker.available": (logging.INFO, _saying("broker up again")),
    "broker.deaf": (logging.WARNING, _broker_deaf),
    "broker.heard": (
        logging.INFO,
        _saying("broker heard again: it delivers the tickets of {}", "lane"),
    ),
    "store.replaced": (logging.ERROR, _saying(REPLACED, "store")),
    "store.unavailable": (logging.WARNING, outages.store_down),
    "store.available": (logging.INFO, outages.store_up),
    "session.lost": (logging.ERROR, outages.session_lost),
    "clock.jumped": (logging.WARNING, _clock_jumped),
    "schedule.came_back": (logging.WARNING, schedules.came_back),
    "engine.error": (logging.ERROR, _saying("a defect in {}: {}", "where", "error")),
}
_OTHERS: tuple[int, Sentence] = (logging.INFO, _any)


def _fields(facts: Mapping[str, Any]) -> dict[str, object]:
    """Return the facts as plain values; an execution by its identifying fields."""
    told: dict[str, object] = {}
    for key, value in facts.items():
        if isinstance(value, Execution):
            told |= _identity(value)
        elif key == "traceparent":
            told |= span_ids(str(value))
        elif isinstance(value, str):
            told[key] = redacted_text(value)
        elif key not in ("result", "found"):
            told[key] = _plain(value)
    return told


def _identity(row: Execution) -> dict[str, object]:
    return {
        "execution": row.id,
        "schedule": row.snapshot.name,
        "job": row.snapshot.job,
        "queue": row.snapshot.queue,
        "run_at": _plain(row.run_at),
        "attempt": row.attempt,
        "kind": str(row.kind),
    }


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Scan):
        return value.shown()
    if isinstance(value, Switch):
        return value.name
    if isinstance(value, dict | list):
        return redacted(value)
    if isinstance(value, Unreadable):
        return f"{value.table}/{value.id}"
    return value.total_seconds() if isinstance(value, timedelta) else value
