"""Job policies: how the runs of a job behave, on a schedule or enqueued."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import cached_property

from sempre.domain.arguments import Json
from sempre.domain.definition import has_limits, read_fields
from sempre.domain.limits import ALLOWED, Limit
from sempre.domain.policies import OnUnknown, Retry
from sempre.domain.snapshot import Snapshot
from sempre.domain.unique import Unique, read_unique
from sempre.domain.values import copy_with
from sempre.errors import PolicyError

__all__ = ["JobPolicy", "read_policy"]


@dataclass(frozen=True, kw_only=True)
class JobPolicy:
    """The policies that a job declares for its runs; see `Definition` for the fields.

    Schedules of the job inherit every field but `unique`, which is for enqueued work alone.
    """

    queue: str = "default"
    priority: int = 1000
    retry: Retry = Retry()  # noqa: RUF009 - an immutable value
    timeout: timedelta | None = None
    on_unknown: OnUnknown = "rerun"
    alert_after: int = 1
    tags: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    unique: Unique | None = None

    def snapshot(self, job: str, args: Mapping[str, Json]) -> Snapshot:
        """Return the snapshot that an execution of the job carries."""
        return copy_with(self._bare, name=job, job=job, args=args)

    @property
    def inherited(self) -> dict[str, object]:
        """The fields that a schedule of the job inherits, unless the schedule sets them."""
        return {name: getattr(self, name) for name in INHERITED}

    @cached_property
    def _bare(self) -> Snapshot:
        chosen = {name: getattr(self, name) for name in CARRIED}
        return Snapshot(name="", job="", **chosen)


INHERITED = tuple(each.name for each in fields(JobPolicy) if each.name != "unique")
# An alert is about the schedule, not about one execution.
CARRIED = tuple(name for name in INHERITED if name != "alert_after")


def read_policy(given: Mapping[str, object]) -> JobPolicy:
    """Return the policy among the options that a user wrote; InvalidInput names the field."""
    known = {name: value for name, value in given.items() if name in INHERITED}
    if given.get("limit") is not None:
        if not has_limits(given["limit"]):
            hint = "A schedule ends after limit=5 starts; a job has no such number."
            raise PolicyError("limit", given["limit"], allowed=ALLOWED, hint=hint)
        known["limit"] = given["limit"]
    return JobPolicy(**read_fields(known), unique=read_unique(given.get("unique")))
