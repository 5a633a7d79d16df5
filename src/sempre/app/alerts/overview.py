"""The overview of alerts: open incidents, and the last messages of channels with their state."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sempre.app.alerts.names import delivery_job, scan_job
from sempre.app.alerts.scan import LastScan, last_scan
from sempre.app.health.failures import one_line
from sempre.app.health.reader import Reader
from sempre.domain.alerts.alert import Alert
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.core import Engine
from sempre.ports.messages import ExecutionQuery

__all__ = ["Overview", "SentMessage", "read_overview"]


@dataclass(frozen=True)
class SentMessage:
    """One message of a channel, by its execution.

    Attributes:
        error: the last error of a message that was not delivered, with secrets masked.
    """

    channel: str
    execution: Execution
    alert: Alert | None
    error: str

    @property
    def title(self) -> str:
        """The message in one line; the job for a message of a newer release."""
        return self.alert.title if self.alert else self.execution.snapshot.job

    @property
    def at(self) -> datetime:
        """When the message was delivered, or enqueued if it was not."""
        row = self.execution
        is_done = row.state is State.SUCCEEDED and row.finished_at is not None
        return row.finished_at if is_done and row.finished_at else row.created_at


@dataclass(frozen=True)
class Overview:
    """The state of the alerts of an application."""

    scan: LastScan
    messages: list[SentMessage]


def read_overview(engine: Engine, channels: Iterable[str], *, limit: int) -> Overview:
    """Return the incidents of the last scan, and the last messages of these channels."""
    reader, found = Reader(engine), list[SentMessage]()
    for name in channels:
        query = ExecutionQuery(job=delivery_job(name), limit=limit)
        rows = reader.read(reader.store.executions(query)).items
        found += [_message(name, row, engine.settings.redact) for row in rows]
    found.sort(key=lambda each: (each.at, each.execution.id), reverse=True)
    return Overview(last_scan(reader, scan_job(engine.settings.owner)), found[:limit])


def _message(channel: str, row: Execution, redact: tuple[str, ...]) -> SentMessage:
    stored = row.snapshot.args.get("alert")
    try:
        alert = Alert.read(stored) if isinstance(stored, dict) else None
    except (KeyError, TypeError, ValueError):
        alert = None
    reason = row.reason.rpartition("DeliveryFailed: ")[2]
    error = "" if row.state is State.SUCCEEDED else one_line(reason, redact)
    return SentMessage(channel, row, alert, error)
