"""Alerts: the message about an incident or a run that a channel gets, in words and as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sempre.domain.alerts.incidents import Incident, Trouble
from sempre.domain.arguments import Json
from sempre.errors.wording import written_instant

__all__ = ["VERSION", "Alert", "Phase"]

VERSION = 1


class Phase(StrEnum):
    """Why a message is sent: about an incident, about a run, or as a test."""

    OPENED = "opened"
    REMINDER = "reminder"
    RECOVERED = "recovered"
    START = "start"
    SUCCESS = "success"
    FAIL = "fail"
    TEST = "test"


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One message to one channel.

    Attributes:
        id: of the incident, equal in all of its messages; of the execution for a message of a run.
        phase: why the message is sent.
        trouble: failure or overdue; empty for a message of a run.
        name: the schedule, or the job for one-off work.
        is_schedule: whether `name` is a schedule.
        since: when the trouble, or the run, began.
        recovered_at: when the trouble ended.
        count: the number of known failures in a row, or of overdue executions.
        reminder: the number of the reminder; 0 for other messages.
        error: the last error in one line, with secrets masked.
        execution: the id of the execution that the message is about.
        seconds: how long the run took.
        monitor: for a message of a run, its schedule: grid and limits.
    """

    id: str
    phase: Phase
    name: str
    trouble: str = ""
    job: str = ""
    is_schedule: bool = True
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    recovered_at: datetime | None = None
    count: int = 0
    reminder: int = 0
    error: str = ""
    execution: str = ""
    seconds: float | None = None
    monitor: Mapping[str, Json] | None = None

    @classmethod
    def of(cls, incident: Incident, phase: Phase, number: int) -> "Alert":
        """Return the message about an incident."""
        return cls(
            id=incident.id,
            phase=phase,
            name=incident.name,
            trouble=str(incident.trouble),
            job=incident.job,
            is_schedule=incident.is_of_schedule,
            tags=incident.tags,
            since=incident.since,
            recovered_at=incident.recovered_at,
            count=incident.count,
            reminder=number if phase is Phase.REMINDER else 0,
            error=incident.error,
            execution=incident.execution,
        )

    @property
    def is_bad(self) -> bool:
        """Whether the message reports trouble, not its end."""
        return self.phase in (Phase.OPENED, Phase.REMINDER, Phase.FAIL)

    @property
    def title(self) -> str:
        """The message in one short line."""
        state = "overdue" if self.trouble == Trouble.OVERDUE else "failing"
        words = {
            Phase.OPENED: f"{self.name} is {state}",
            Phase.REMINDER: f"{self.name} is still {state}",
            Phase.RECOVERED: f"{self.name} has recovered",
            Phase.START: f"{self.name} has started",
            Phase.SUCCESS: f"{self.name} has succeeded",
            Phase.FAIL: f"{self.name} has failed",
            Phase.TEST: "test message of Sempre",
        }
        return words[self.phase]

    @property
    def text(self) -> str:
        """The message in a few lines."""
        what = "schedule" if self.is_schedule else "job"
        if self.phase is Phase.TEST:
            return "This is a test message of Sempre. This channel works."
        lines = [f"{self.title}.", f"{what}: {self.name}"]
        if self.is_schedule and self.job:
            lines.append(f"job: {self.job}")
        if self.since:
            lines.append(f"since: {written_instant(self.since)}")
        if self.recovered_at:
            lines.append(f"until: {written_instant(self.recovered_at)}")
        if self.count:
            unit = "overdue executions" if self.trouble == Trouble.OVERDUE else "failures in a row"
            lines.append(f"{unit}: {self.count}")
        if self.error:
            lines.append(f"error: {self.error}")
        if self.execution:
            lines.append(f"try: sempre execution {self.execution}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """Return the message as JSON: the payload of webhooks, and the stored arguments."""
        values: dict[str, Any] = asdict(self)
        values |= {"phase": str(self.phase), "tags": list(self.tags)}
        for name in ("since", "recovered_at"):
            values[name] = values[name] and _stamp(values[name])
        return {"v": VERSION, **values, "title": self.title}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Alert":
        """Return the message from its stored form; fields of a newer release are left out.

        Raises:
            ValueError: the phase is one of a newer release.
        """
        known = {each.name for each in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        values |= {"phase": Phase(values["phase"]), "tags": tuple(values.get("tags", ()))}
        for name in ("since", "recovered_at"):
            text = values.get(name)
            values[name] = datetime.fromisoformat(text) if text else None
        return cls(**values)


def _stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
