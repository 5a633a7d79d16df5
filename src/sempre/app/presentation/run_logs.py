"""The logs of the runs of an execution, without secrets."""

from datetime import datetime
from typing import NamedTuple

from sempre.app.presentation.fields import StoreReader
from sempre.app.times import json_instant
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.run_log import LogLines, read_log
from sempre.domain.states import State

__all__ = ["AttemptLog", "log_json", "logs_of"]


class AttemptLog(NamedTuple):
    """The log of one attempt, without secrets; attempts are counted from 1."""

    attempt: int
    fence: int
    lines: LogLines
    written_at: datetime | None = None


def logs_of(reader: StoreReader, row: Execution) -> list[AttemptLog]:
    """Return the log of every attempt at an execution; an attempt may have written no line."""
    logs = {each.fence: each for each in reader.read(reader.store.run_logs(row.id))}
    fences = {each.fence for each in reader.read(reader.store.attempts(row.id))} | logs.keys()
    if row.state is State.RUNNING:
        fences.add(row.fence)
    names = (*reader.settings.redact, *row.snapshot.redact)
    found = []
    for number, fence in enumerate(sorted(fences), 1):
        log = logs.get(fence)
        lines = read_log(redacted_text(log.text, names) if log else "")
        found.append(AttemptLog(number, fence, lines, log.written_at if log else None))
    return found


def log_json(log: AttemptLog) -> dict[str, object]:
    """Return the log of one attempt as a JSON object; `lines` is their number."""
    return {
        "attempt": log.attempt,
        "fence": log.fence,
        "written_at": json_instant(log.written_at),
        "lines": log.lines.total,
        "text": "\n".join(log.lines.after(0)),
    }
