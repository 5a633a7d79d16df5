"""The logs of runs in Redis: a hash for each execution, with a field for each fence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sempre.ports.messages import Reading
from sempre.ports.run_logs import RunLog
from sempre.stores.redis.decoding import LeftOut, decoded, told_as
from sempre.stores.redis.encoding import instant
from sempre.stores.redis.records import WIDTH, paired

__all__ = ["RedisRunLogs"]

T = TypeVar("T")


class RedisRunLogs(ABC):
    """The operations of the port on the logs of runs."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        """Store the logs of runs of a session."""
        if logs:
            self._run("write_logs", [session, *_arguments(logs)])

    def run_logs(self, execution_id: str) -> Reading[list[RunLog]]:
        """Return the logs of the runs of an execution, by fence."""

        def read(found: Sequence[str], left_out: LeftOut) -> list[RunLog]:
            describe = told_as("run_logs", execution_id)
            rows = list(paired(found).items())
            logs = decoded(rows, lambda row: _read(execution_id, *row), describe, left_out)
            return sorted(logs, key=lambda each: each.fence)

        return self._read_rows("run_logs", [execution_id], read)

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""

    @abstractmethod
    def _read_rows(
        self, script: str, told: Iterable[str | int], read: Callable[[Any, LeftOut], T]
    ) -> Reading[T]:
        """Run a script; return its answer with the store's now and the unreadable rows."""


def _arguments(logs: Sequence[RunLog]) -> Iterator[str | int]:
    yield len(logs)
    for each in logs:
        yield from (each.execution_id, each.fence, each.text)


def _read(execution_id: str, fence: str, value: str) -> RunLog:
    return RunLog(execution_id, int(fence), value[WIDTH:], instant(value[:WIDTH]))
