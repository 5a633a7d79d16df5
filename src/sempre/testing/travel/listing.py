"""Texts of failed assertions: executions a line each, arguments with their defaults."""

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sempre.app.jobs import Job
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution

__all__ = ["all_arguments", "listed", "written"]

MOST_LISTED = 10


def all_arguments(job: Job[..., Any], args: Mapping[str, Json]) -> dict[str, Any]:
    """Return the arguments of a job, with defaults for missing arguments."""
    parameters = inspect.signature(job.task.function).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    return {**defaults, **args}


def listed(rows: Sequence[Execution]) -> str:
    """Return the last executions, a line each, and how many came before."""
    lines = [f"  {_line(row)}" for row in rows[-MOST_LISTED:]]
    if len(rows) > MOST_LISTED:
        lines.insert(0, f"  ({len(rows) - MOST_LISTED} before these)")
    return "\n".join(lines) or "  (nothing)"


def written(args: Mapping[str, Any]) -> str:
    """Return arguments as JSON; a default that is none is written as Python does."""
    return json.dumps(dict(args), ensure_ascii=False, sort_keys=True, default=repr)


def _line(row: Execution) -> str:
    args = written(row.snapshot.args) if row.snapshot.args else ""
    reason = f"({row.reason})" if row.reason else ""
    words = (str(row.due_at), row.snapshot.name, args, str(row.state), reason)
    return " ".join(filter(None, words))
