"""Sightings of failures: what the outcomes of a schedule or one-off job say. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from sempre.app.health.failures import failing, one_line
from sempre.domain.alerts.incidents import Sighting, Trouble
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State

__all__ = ["MARGIN", "sighting_of_job", "sighting_of_schedule"]

MARGIN = timedelta(minutes=10)
"""How much later than its end an outcome may be written, as after an outage of the store."""


def sighting_of_schedule(
    schedule: Schedule,
    outcomes: Sequence[Execution],
    now: datetime,
    *,
    scanned_at: datetime | None,
    redact: Sequence[str] = (),
) -> Sighting | None:
    """Return what the last outcomes of a schedule, newest first, say; None if they say nothing.

    Failures that ended and were followed by a success since the last scan are a sighting too: an
    incident between two scans is not lost. `scanned_at` is None before the first scan.
    """
    subject = f"schedule:{schedule.name}"
    wins = list(takewhile(lambda row: row.state is State.SUCCEEDED, outcomes))
    streak = list(takewhile(lambda row: row.state is State.FAILED, outcomes[len(wins) :]))
    definition = schedule.definition
    if not wins and failing(schedule, outcomes, now) is None:
        return None
    is_whole = len(streak) >= definition.alert_after
    return _sighting(
        subject,
        definition.job,
        definition.tags,
        streak,
        recovered_at=_end(wins[-1]) if wins else None,
        is_news=not wins or (is_whole and _is_news(streak, scanned_at)),
        redact=redact,
    )


def sighting_of_job(
    job: str,
    failures: Iterable[Execution],
    last_success: datetime | None,
    *,
    alert_after: int,
    scanned_at: datetime | None,
    redact: Sequence[str] = (),
) -> Sighting | None:
    """Return what the failures of a job's one-off work say, given the end of its last success."""
    rows = sorted(failures, key=_end, reverse=True)
    streak = [row for row in rows if last_success is None or _end(row) > last_success]
    tags = tuple(sorted({tag for row in rows for tag in row.snapshot.tags}))
    if len(streak) >= alert_after:
        return _sighting(f"job:{job}", job, tags, streak, None, is_news=True, redact=redact)
    if last_success is None or streak:
        return None
    is_news = len(rows) >= alert_after and _is_news(rows, scanned_at)
    return _sighting(f"job:{job}", job, tags, rows, last_success, is_news=is_news, redact=redact)


def _sighting(
    subject: str,
    job: str,
    tags: tuple[str, ...],
    streak: Sequence[Execution],
    recovered_at: datetime | None,
    *,
    is_news: bool,
    redact: Sequence[str],
) -> Sighting:
    if not streak:
        return Sighting(trouble=Trouble.FAILURE, subject=subject, recovered_at=recovered_at)
    first, last = streak[-1], streak[0]
    return Sighting(
        trouble=Trouble.FAILURE,
        subject=subject,
        first=first.id,
        job=job,
        tags=tags,
        since=_end(first) if is_news else None,
        count=len(streak),
        error=one_line(_error(last), (*redact, *last.snapshot.redact)),
        execution=last.id,
        recovered_at=recovered_at,
    )


def _is_news(streak: Sequence[Execution], scanned_at: datetime | None) -> bool:
    """Whether the last scan may have come before the end of these failures."""
    if not streak or scanned_at is None:
        return False
    return _end(streak[0]) > scanned_at - MARGIN


def _error(row: Execution) -> str:
    """Return what the job raised; for other failures the whole reason."""
    return row.reason.removeprefix(f"{Reason.ERROR}: ").removeprefix(
        f"{Reason.RETRIES_EXHAUSTED}: "
    )


def _end(row: Execution) -> datetime:
    return row.finished_at or row.run_at
