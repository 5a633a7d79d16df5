"""Limits of the Redis store: scripts count and park, so that no claim comes in between."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Any

from sempre.ports.limits import Opened
from sempre.ports.messages import Reading
from sempre.stores.limit_room import GENEROSITY
from sempre.stores.redis.arguments import listed
from sempre.stores.redis.encoding import instant
from sempre.stores.redis.pages import read_waiting
from sempre.stores.redis.records import paired

__all__ = ["RedisLimits"]


class RedisLimits(ABC):
    """The operation of the port on executions that wait for limits."""

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        """Free parked executions of these keys, as many as there is room for."""
        extra = GENEROSITY if keys is None else 0
        asked = [int(keys is None), after, limit, extra, *listed(sorted(keys or ()))]
        now, (rows, opens, last) = self._run("open_limits", asked)
        instants = {key: instant(at) for key, at in paired(opens).items()}
        return Reading(instant(now), Opened(tuple(map(read_waiting, rows)), instants, last))
