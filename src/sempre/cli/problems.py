"""Problems that `sempre status` reports, by codes that never change.

docs/reference/status.md explains every code.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["CODES", "Problem"]

CODES = {
    "S101": "the watchdog is overdue",
    "S102": "the watchdog has never finished a pass",
    "S103": "history grows faster than it is purged",
    "S201": "schedules have no next row though they want one",
    "S202": "schedules are broken",
    "S203": "rows cannot be read by this process",
    "S204": "schedules have a job that no live worker knows",
    "S205": "schedules were disabled by a deploy",
    "S206": "code of another owner was refused",
    "S301": "executions are overdue",
    "S302": "executions are not known to the broker",
    "S303": "executions run under sessions that are gone",
    "S304": "the broker takes tickets and delivers none",
    "S401": "no worker is alive",
    "S402": "the host's clock differs from the store's",
    "S403": "the store's clock has jumped: something lies in its future",
    "S404": "the store was emptied and set up again",
    "S501": "switches are off",
    "S601": "pairs have not looked for three of their intervals",
    "S602": "pairs do not find work that is unfinished for too long",
    "S603": "work of pairs fails again and again",
    "S604": "pairs take longer than their interval, or read big tables as a whole",
}
"""Every problem that `sempre status` can report."""


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be.

    Attributes:
        severity: an error makes a store unhealthy; a warning is a thing to know.
        names: the schedules, executions or switches concerned, some of them.
        advice: the command to run next.
    """

    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    names: tuple[str, ...] = ()
    advice: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as `--json` has it."""
        told = {"code": self.code, "severity": self.severity, "message": self.message}
        return {**told, "names": list(self.names), "advice": self.advice or None}
