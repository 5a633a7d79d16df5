"""The broker of a journey: the memory broker, which never waits and can lose its memory."""

from collections.abc import Sequence

from sempre.brokers.memory import MemoryBroker, _Lane
from sempre.ports.broker import Delivery

__all__ = ["TravelBroker"]

# A delay is a fraction of seconds, an instant a whole number of microseconds: what is nearer than
# half of one is now.
NEARLY = 5e-7
MOST_AT_ONCE = 200


class TravelBroker(MemoryBroker):
    """A broker on virtual time, with one worker who listens to every lane."""

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:  # noqa: ARG002 - nobody waits
        """Return the messages of any lane that are due now."""
        every = list({*lanes, *self._lanes})
        return super().reserve(every, limit=min(limit, MOST_AT_ONCE), wait=0.0)

    @property
    def has_due(self) -> bool:
        """Whether a message could be reserved now."""
        now = self._clock.elapsed() + NEARLY
        return any(lane.ready or _is_due(lane.delayed, now) for lane in self._lanes.values())

    def forget(self) -> None:
        """Lose every message, as a broker does that is started again."""
        self._kept.clear()
        self._lanes.clear()

    def _make_ready(self, lane: _Lane, now: float) -> None:
        super()._make_ready(lane, now + NEARLY)


def _is_due(delayed: list[tuple[float, int, str]], now: float) -> bool:
    return bool(delayed) and delayed[0][0] <= now
