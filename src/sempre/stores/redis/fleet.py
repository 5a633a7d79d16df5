"""Operations of the Redis store on workers and held executions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from sempre.domain.action import Action
from sempre.ports.messages import Reading, Waiting
from sempre.stores.redis import arguments
from sempre.stores.redis.encoding import instant
from sempre.stores.redis.pages import read_waiting

__all__ = ["RedisFleet"]


class RedisFleet(ABC):
    """The operations of the port that operators use for workers and queues."""

    def drain(self, session_ids: Sequence[str], *, actions: Sequence[Action] = ()) -> list[bool]:
        """Ask workers to finish their runs and to stop; True for each session that exists."""
        values = [*arguments.listed(session_ids), *arguments.actions(actions)]
        return [found == 1 for found in self._run("drain", values)]

    def held(self, *, limit: int) -> Reading[list[Waiting]]:
        """Return live executions that are held back."""
        now, found = self._run("held", [limit])
        return Reading(instant(now), list(map(read_waiting, found)))

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""
