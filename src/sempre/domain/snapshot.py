"""Snapshots: the rules that an execution keeps when its schedule is edited or deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta

from sempre.domain.arguments import Json, are_same_json
from sempre.domain.limits import Limit
from sempre.domain.policies import OnUnknown, Overlap, Retry
from sempre.domain.values import builder
from sempre.grids.grid import Grid

__all__ = ["Snapshot", "build_snapshot"]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The part of a definition that decides how one execution runs.

    One-off work has a snapshot too, without a grid and with the tags of its job, because it has no
    schedule to read them from. `redact` is applied where arguments are shown. `trace` is the W3C
    traceparent of the span that enqueued the execution; empty without traces.
    """

    name: str
    job: str
    args: Mapping[str, Json] = field(default_factory=dict)
    queue: str = "default"
    priority: int = 1000
    grid: Grid | None = None
    retry: Retry = Retry()  # noqa: RUF009 - an immutable value
    timeout: timedelta | None = None
    on_unknown: OnUnknown = "rerun"
    overlap: Overlap = "skip"
    deadline: timedelta | None = None
    jitter: timedelta = timedelta(0)
    tags: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    revision: int = 1
    trace: str = ""

    def drift_from(self, other: "Snapshot") -> tuple[str, ...]:
        """Return the names of the fields that differ; revision and trace do not count."""
        names = (each.name for each in fields(self) if each.name not in _NO_DRIFT)
        differing = [name for name in names if getattr(self, name) != getattr(other, name)]
        if not are_same_json(self.args, other.args):
            differing.append("args")
        return tuple(differing)


_NO_DRIFT = frozenset({"revision", "args", "trace"})
build_snapshot = builder(Snapshot)
