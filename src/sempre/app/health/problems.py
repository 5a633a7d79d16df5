"""Problems of a store, as checks report them, and the words of their messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sempre.app.health.facts import MOST

__all__ = ["Problem", "Severity", "counted", "listed"]

NAMED = 5
Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One problem of a store.

    Attributes:
        severity: an error makes a store unhealthy, a warning does not.
        names: the schedules, executions, pairs or switches concerned.
        advice: the command to run next.
    """

    code: str
    message: str
    severity: Severity = "error"
    names: tuple[str, ...] = ()
    advice: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the problem as `--json` shows it."""
        return {**vars(self), "names": list(self.names), "advice": self.advice or None}


def counted(found: Sequence[object], noun: str) -> str:
    """Return how many things were found, with their noun."""
    more = " or more" if len(found) >= MOST else ""
    return f"{len(found)}{more} {noun}{'' if len(found) == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
