"""Operations of the Redis store on workers and held executions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from sempre.ports.messages import Reading, Waiting
from sempre.stores.redis.arguments import listed
from sempre.stores.redis.encoding import instant
from sempre.stores.redis.pages import read_waiting

__all__ = ["RedisFleet"]


class RedisFleet(ABC):
    """The operations of the port that operators use for workers and queues."""

    def drain(self, session_ids: Sequence[str]) -> list[bool]:
        """Ask workers to finish their runs and to stop; True for each session that exists."""
        return [found == 1 for found in self._run("drain", listed(session_ids))]

    def held(self, *, limit: int) -> Reading[list[Waiting]]:
        """Return live executions that are held back."""
        now, found = self._run("held", [limit])
        return Reading(instant(now), list(map(read_waiting, found)))

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""
