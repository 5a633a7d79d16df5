"""The schedules that every contestant registers: all due at one instant, or not for hours."""

from dataclasses import dataclass
from datetime import UTC, datetime

from bench.peers.telling import told

__all__ = ["Rule", "rule"]


@dataclass(frozen=True)
class Rule:
    """Once a day at this time, in UTC; `at` is its next instant."""

    at: datetime

    @property
    def minutes(self) -> str:
        """As a cron of five fields; only right for a whole minute."""
        return f"{self.at.minute} {self.at.hour} * * *"

    @property
    def fields(self) -> dict[str, int]:
        """As the keywords of those who take one for each field."""
        return {"hour": self.at.hour, "minute": self.at.minute, "second": self.at.second}


def rule() -> Rule:
    """Return the rule that the harness asked for; it sees to it that idle ones are far away."""
    return Rule(datetime.fromtimestamp(told("due"), UTC))
