"""Incidents: one row of trouble from its first failure or overdue slot to its recovery.

An incident is derived from executions. Its id names the first failed execution, or the first
overdue slot, so that two derivations of one incident have one id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from sempre.domain.arguments import Json

__all__ = ["Incident", "SentMessages", "Sighting", "Trouble", "observe", "read_incidents"]


class Trouble(StrEnum):
    """The kinds of trouble."""

    FAILURE = "failure"
    """The last executions failed for good, as many in a row as `alert_after` says."""
    OVERDUE = "overdue"
    """An execution is due and has not started."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What the rows say about one schedule or one-off job at the present.

    Attributes:
        subject: `schedule:NAME` or `job:NAME`.
        first: the id of the first failed execution, or the first overdue slot.
        since: when the trouble began.
        count: the number of known failures in a row, or of overdue executions.
        error: the last error in one line, with secrets masked.
        execution: the id of the last failed, or first overdue, execution.
        recovered_at: when the trouble ended; None while it lasts.
        is_gone: whether the schedule was deleted, so that no recovery can follow.
    """

    trouble: Trouble
    subject: str
    first: str = ""
    job: str = ""
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    count: int = 0
    error: str = ""
    execution: str = ""
    recovered_at: datetime | None = None
    is_gone: bool = False

    @property
    def key(self) -> tuple[Trouble, str]:
        """What the sighting is about."""
        return self.trouble, self.subject


@dataclass(frozen=True)
class SentMessages:
    """The messages about an incident that one channel has sent.

    Attributes:
        count: the number of messages about trouble: 1 after the first, one more per reminder.
        at: when the last of these messages was enqueued.
        has_end: whether the message about the recovery was enqueued.
    """

    count: int = 0
    at: datetime | None = None
    has_end: bool = False


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Trouble of one schedule or job, and the messages about it, by channel.

    Attributes:
        is_seen: whether the last scan saw the trouble: a paused schedule, for example, has none,
            and has not recovered either.
        sent: by name of the channel.
    """

    trouble: Trouble
    subject: str
    first: str
    job: str
    tags: tuple[str, ...]
    since: datetime
    count: int
    error: str
    execution: str
    recovered_at: datetime | None = None
    is_seen: bool = True
    sent: Mapping[str, SentMessages] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id, equal in every derivation of the incident."""
        return f"{self.trouble}:{self.subject}:{self.first}"

    @property
    def key(self) -> tuple[Trouble, str]:
        """What the incident is about; at most one incident of a key is open."""
        return self.trouble, self.subject

    @property
    def is_of_schedule(self) -> bool:
        """Whether the incident is about a schedule, not about one-off work of a job."""
        return self.subject.startswith("schedule:")

    @property
    def name(self) -> str:
        """The name of the schedule or job."""
        return self.subject.partition(":")[2]

    def to_json(self) -> dict[str, Json]:
        """Return the incident as JSON."""
        # A list: the keys of an object may look like secrets, whose values are masked.
        sent: list[Json] = [
            [name, each.count, _text(each.at), each.has_end] for name, each in self.sent.items()
        ]
        return {
            "trouble": str(self.trouble),
            "subject": self.subject,
            "first": self.first,
            "job": self.job,
            "tags": list(self.tags),
            "since": self.since.isoformat(),
            "count": self.count,
            "error": self.error,
            "execution": self.execution,
            "recovered_at": _text(self.recovered_at),
            "is_seen": self.is_seen,
            "sent": sent,
        }


def observe(
    known: Mapping[tuple[Trouble, str], Incident], sightings: Iterable[Sighting]
) -> dict[tuple[Trouble, str], Incident]:
    """Return the incidents after a scan: opened, continued, recovered, or gone."""
    found = {key: replace(each, is_seen=False) for key, each in known.items()}
    for sighting in sightings:
        before = found.get(sighting.key)
        if sighting.is_gone:
            found.pop(sighting.key, None)
        elif before is None or _is_another(before, sighting):
            if sighting.since is not None:
                found[sighting.key] = _opened(sighting, sighting.since)
        elif before.recovered_at is None:
            found[sighting.key] = _continued(before, sighting)
    return found


def read_incidents(stored: object) -> dict[tuple[Trouble, str], Incident]:
    """Return incidents from their stored form; those of a form that is unknown are left out.

    Incidents that are left out are derived anew, and unique keys keep their messages single.
    """
    rows = stored if isinstance(stored, list) else []
    found = [_read(each) for each in rows if isinstance(each, Mapping)]
    return {each.key: each for each in found if each}


def _is_another(before: Incident, sighting: Sighting) -> bool:
    """Whether trouble began again, after a recovery that is still remembered."""
    ended, began = before.recovered_at, sighting.since
    return ended is not None and began is not None and began > ended


def _opened(sighting: Sighting, since: datetime) -> Incident:
    return Incident(
        trouble=sighting.trouble,
        subject=sighting.subject,
        first=sighting.first,
        job=sighting.job,
        tags=sighting.tags,
        since=since,
        count=sighting.count,
        error=sighting.error,
        execution=sighting.execution,
        recovered_at=sighting.recovered_at,
    )


def _continued(before: Incident, sighting: Sighting) -> Incident:
    if sighting.recovered_at is not None:
        return replace(before, recovered_at=sighting.recovered_at, is_seen=True)
    # A long row of failures is not read to its beginning: the number never falls.
    return replace(
        before,
        count=max(before.count, sighting.count),
        error=sighting.error,
        execution=sighting.execution,
        tags=sighting.tags,
        is_seen=True,
    )


def _read(row: Mapping[str, object]) -> Incident | None:
    try:
        known = dict(row)
        sent = known.pop("sent")
        recovered_at = known.pop("recovered_at")
        return Incident(
            trouble=Trouble(str(known.pop("trouble"))),
            tags=tuple(_texts(known.pop("tags"))),
            since=datetime.fromisoformat(str(known.pop("since"))),
            recovered_at=_instant(recovered_at),
            sent=dict(_sent(each) for each in _rows(sent)),
            **known,  # type: ignore[arg-type]  # a wrong field raises TypeError
        )
    except (KeyError, TypeError, ValueError):
        return None


def _sent(value: list[object]) -> tuple[str, SentMessages]:
    name, count, at, has_end = value
    return str(name), SentMessages(int(str(count)), _instant(at), bool(has_end))


def _rows(value: object) -> list[list[object]]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _instant(value: object) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
