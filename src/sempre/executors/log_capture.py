"""Capture of what jobs write by `logging`: one handler on the root logger, for all runs.

The handler sends each record to the run of the current context: of the thread, task or child
process that logs. A record without a run is not captured. Loggers decide which records exist: the
handler changes no level, so an INFO of a logger at WARNING is not captured.
"""

import logging
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock

from sempre.domain.redaction import kept_text
from sempre.domain.run_log import entry_of
from sempre.executors.current import JOB_LOGGER, Current, running_now

__all__ = ["CAPTURE", "LogCapture", "RunLogHandler"]

_OWN = "sempre."


class RunLogHandler(logging.Handler):
    """Adds records to the logs of runs. Never raises, and takes no lock of `logging`."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Add a record to the log of the current run, if there is one."""
        run = running_now()
        if run is not None and _is_wanted(record, run):
            # A log must not end a job. What a signal handler of the job raises is the job's own.
            with suppress(MemoryError, RecursionError):
                run.link.write_log(_entry(record, run), run.log_rule.size)
        if len(logging.root.handlers) == 1 and not _has_other_handler(record, self):
            _print_as_last_resort(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        """Add a record to the log of the current run, if there is one."""
        self.handle(record)


class LogCapture:
    """Installs the handler while executors of this process run jobs."""

    def __init__(self) -> None:
        """Begin without the handler."""
        self._handler = RunLogHandler()
        self._lock = Lock()
        self._users = 0

    def start(self) -> None:
        """Install the handler, if no other executor has."""
        with self._lock:
            self._users += 1
            self.ensure()

    def ensure(self) -> None:
        """Install the handler again, if the application has replaced its handlers since."""
        if self._handler not in logging.root.handlers:
            logging.root.addHandler(self._handler)

    def stop(self) -> None:
        """Remove the handler after the last executor has stopped."""
        with self._lock:
            self._users -= 1
            if not self._users:
                logging.root.removeHandler(self._handler)


CAPTURE = LogCapture()
"""The capture of this process."""


def _is_wanted(record: logging.LogRecord, run: Current) -> bool:
    """Whether a record belongs into the log of a run: lines of Sempre itself do not."""
    name, rule = record.name, run.log_rule
    if record.levelno < rule.level or not rule.size:
        return False
    return not f"{name}.".startswith(_OWN) or f"{name}.".startswith(f"{JOB_LOGGER}.")


def _entry(record: logging.LogRecord, run: Current) -> str:
    try:
        message = _message(record)
    except Exception as error:  # noqa: BLE001 - a value of the job may raise when it is written
        message = f"(formatting this message raised {type(error).__name__})"
    at = datetime.fromtimestamp(record.created, UTC)
    return kept_text(entry_of(at, record.levelname, record.name, message), run.redact)


def _message(record: logging.LogRecord) -> str:
    """Return the message of a record, followed by the traceback and the stack that it has."""
    parts = [record.getMessage()]
    if record.exc_info and record.exc_info[0] is not None:
        parts.append("".join(traceback.format_exception(*record.exc_info)).rstrip())
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)


def _has_other_handler(record: logging.LogRecord, own: logging.Handler) -> bool:
    """Whether a record reaches a handler of the application."""
    logger: logging.Logger | None = logging.getLogger(record.name)
    while logger is not None:
        if any(each is not own for each in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False


def _print_as_last_resort(record: logging.LogRecord) -> None:
    """Print a warning on stderr, as `logging` does for an application without any handler."""
    last = logging.lastResort
    if last is not None and record.levelno >= last.level:
        last.handle(record)
