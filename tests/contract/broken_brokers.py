"""Brokers with one kept bug each, of the kind that real ones have had; the contracts find all."""

from collections.abc import Sequence

from sempre.brokers.memory import MemoryBroker
from sempre.clock import Clock
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import LARGEST_BODY, Delivery, Message


class DeliversEarly(MemoryBroker):
    """Takes a delay for a hint."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        return super().put([message._replace(delay=message.delay / 2) for message in messages])


class RoundsDown(MemoryBroker):
    """Counts whole seconds that have begun."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        return super().put([message._replace(delay=int(message.delay)) for message in messages])


class PutsBackAtOnce(MemoryBroker):
    """Knows no delay of what is put back."""

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        super().put_back(deliveries, delay=min(0.0, delay))


class ForgetsPriority(MemoryBroker):
    """Delivers in the order of putting."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        return super().put([message._replace(priority=1) for message in messages])


class GivesMore(MemoryBroker):
    """Rounds a limit up to its batches."""

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        return super().reserve(lanes, limit=-(-limit // 10) * 10, wait=wait)


class HidesNothing(MemoryBroker):
    """Leaves what it delivers where it is."""

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        found = super().reserve(lanes, limit=limit, wait=wait)
        super().put_back(found, delay=0)
        return found


class NeverDeliversAgain(MemoryBroker):
    """Believes that nobody dies."""

    def __init__(self, clock: Clock | None = None, *, visibility: float = 120.0) -> None:
        super().__init__(clock, visibility=visibility * 3600)


class AcknowledgesByHandle(MemoryBroker):
    """Lets whoever knows a handle delete the message."""

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._kept.pop(delivery.handle, None)


class HoldsByHandle(MemoryBroker):
    """Takes any message of a handle for the one that was put."""

    def holds(self, lane: str, handle: str, body: str) -> bool:  # noqa: ARG002 - that is the bug
        return handle in self._kept


class RefusesWholeBatches(MemoryBroker):
    """Takes nothing if one message is too big."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        if any(len(message.body) > LARGEST_BODY for message in messages):
            raise BrokerUnavailable("too big.")
        return super().put(messages)


class RefusesInSilence(MemoryBroker):
    """Says nothing when it takes nothing."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        try:
            return super().put(messages)
        except BrokerUnavailable:
            return [""] * len(messages)


class CutsLines(MemoryBroker):
    """Ends a body where its protocol ends a line."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        cut = [message._replace(body=message.body.partition("\r\n")[0]) for message in messages]
        return super().put(cut)


class MissesWakes(MemoryBroker):
    """Wakes only those that wait in this moment."""

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class WakesForEver(MemoryBroker):
    """Never forgets that it was woken."""

    def _is_woken(self) -> bool:
        return self._wakes > 0


class DoesNotWait(MemoryBroker):
    """Leaves waiting to whoever asks."""

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        return super().reserve(lanes, limit=limit, wait=wait / 2)


class TellsNobody(MemoryBroker):
    """Lets whoever waits find out by itself."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        notify, self._changed.notify_all = self._changed.notify_all, lambda: None  # type: ignore[method-assign]
        try:
            return super().put(messages)
        finally:
            self._changed.notify_all = notify  # type: ignore[method-assign]


class OpensAgain(MemoryBroker):
    """Looks as if there was nothing to do after it was closed."""

    def _check_open(self) -> None:
        return


class EmptiesByPrefix(MemoryBroker):
    """Takes the name of a lane for the beginning of one."""

    def empty(self, lanes: Sequence[str]) -> int:
        names = {kept.message.lane for kept in self._kept.values()}
        return super().empty([name for name in names if name.startswith(tuple(lanes))])


class KeepsWhatIsDelayed(MemoryBroker):
    """Looks only at what could be delivered now."""

    def empty(self, lanes: Sequence[str]) -> int:
        found = self.reserve(lanes, limit=1000, wait=0)
        self.acknowledge(found)
        return len(found)


class TakesAnyLane(MemoryBroker):
    """Puts what it can of a batch, lane by lane."""

    def put(self, messages: Sequence[Message]) -> list[str]:
        return [
            handle for message in messages for handle in super(TakesAnyLane, self).put([message])
        ]
