"""The part of a store's port that keeps the logs of runs: what their jobs wrote by `logging`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sempre.ports.messages import Reading

__all__ = ["RunLog", "RunLogs"]


@dataclass(frozen=True)
class RunLog:
    """The log of one run, as far as its worker has written the log.

    Attributes:
        execution_id: the execution that the run belongs to.
        fence: the fence of the run.
        text: the lines, as `domain.run_log` describes them; every store can hold them.
        written_at: when the store wrote the text.
    """

    execution_id: str
    fence: int
    text: str
    written_at: datetime | None = None

    def is_from(self, session: str, *, fence: int, holder: str) -> bool:
        """Whether a session may write the log to an execution of this fence and this holder.

        An execution that waits for a retry has no holder; one that was claimed again has a higher
        fence. So the log of a run that lost its lease is accepted, and a forged fence is refused.
        """
        return self.fence < fence or (self.fence == fence and holder in (session, ""))


class RunLogs(Protocol):
    """The operations of every store on the logs of runs."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        """Store the logs of runs of a session, each in place of an earlier text of that run.

        A log is accepted while its execution exists, also after the run has ended or was lost; a
        log under a fence that the session never held is dropped. A purge deletes logs together
        with their execution.
        """
        ...

    def run_logs(self, execution_id: str) -> Reading[list[RunLog]]:
        """Return the logs of the runs of an execution that have one, by fence."""
        ...
