"""Brokers that lose, double, delay and forget messages, run out of memory, or are away."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import ceil
from typing import Protocol

from sempre.brokers.memory import MemoryBroker
from sempre.engine.tickets import Ticket, read_ticket
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import BrokerCapabilities, Delivery, Message
from sempre.testing.simulation.clock import VirtualClock
from sempre.testing.simulation.stage import Broken, Program, Stage, WouldWait

__all__ = ["Acknowledged", "Exchange", "FaultyBroker"]

LONGEST_KEPT = 5.0
MOST_CHECKS = 3
# Seconds for which a process that stood still may keep a ticket whose claim was refused.
TRIED_AGAIN = 1.0
DELAYS = (0.5, 2.0, 10.0, 60.0)
# Seconds after which a program that listens to a deaf broker queries that broker again.
DEAF = 0.5


class Acknowledged(Protocol):
    """Receives each message that a program acknowledges, and whether it was the last copy."""

    def __call__(self, program: Program, delivery: Delivery, *, last: bool) -> None:
        """Take note."""
        ...


@dataclass
class _Held:
    """A message that a process has reserved and not finished."""

    body: str
    since: float
    checks: int = 0
    noticed: float | None = None


class _OpenBroker(MemoryBroker):
    """The memory broker, which also returns the bodies of its messages."""

    def bodies(self) -> set[str]:
        """Return the bodies of all messages, delayed, ready or reserved."""
        return {kept.message.body for kept in self._kept.values()}

    def copies(self, body: str) -> int:
        """Return how many messages have a body."""
        return sum(kept.message.body == body for kept in self._kept.values())

    def next_due(self, lanes: Sequence[str]) -> float:
        """Return by the clock when the next message of these lanes can be reserved."""
        return self._next_due(lanes)


class Exchange:
    """The broker itself, which all processes share.

    Attributes:
        carries: whether the broker carries messages; if not, the store is its own broker.
        precision: seconds to a multiple of which delays are rounded up; 0 for exact delays.
        heard: called with lane and delay whenever a message comes in.
        exists: returns whether an execution has been written.
        lies: bodies of messages that were lost or delayed one by one, unknown to every process.
    """

    def __init__(self, stage: Stage, *, carries: bool, precision: float = 0.0) -> None:
        """Begin empty."""
        self.precision = precision
        self._clock = VirtualClock(stage.time)
        self.carries = carries
        self.inner = _OpenBroker(self._clock)
        self.heard: Callable[[str, float], None] = lambda _lane, _delay: None
        self.exists: Callable[[str], bool] = lambda _execution: True
        self.lies: set[str] = set()

    def flush(self) -> None:
        """Delete all messages; new handles start from the first handle again."""
        self.lies.clear()
        self.inner = _OpenBroker(self._clock)

    def rounded(self, delay: float) -> float:
        """Return a delay rounded up to the precision of the broker."""
        return ceil(delay / self.precision) * self.precision if self.precision else delay

    def next_delay(self, lanes: Sequence[str]) -> float:
        """Return seconds until the next message of these lanes."""
        return max(0.0, self.inner.next_due(lanes) - self._clock.elapsed())


class FaultyBroker:
    """The broker as one process sees it, with faults.

    Attributes:
        unfinished: messages that are reserved and neither acknowledged nor put back, by receipt.
        waits: seconds that the latest `reserve` would have waited; None if it found messages.
        is_rung: whether a ring or wake-up came since `reserve` last returned.
        received: number of messages that were ever reserved.
    """

    def __init__(
        self,
        exchange: Exchange,
        program: Program,
        *,
        acknowledged: Acknowledged,
        woken: Callable[[], None],
    ) -> None:
        """Wrap the broker for one program."""
        self._exchange = exchange
        self._program = program
        self._acknowledged = acknowledged
        self._woken = woken
        self.unfinished: dict[str, _Held] = {}
        self._reserved: set[str] = set()
        self.waits: float | None = None
        self.is_rung = False
        self.received = 0
        self.capabilities = BrokerCapabilities(
            carries=exchange.carries,
            horizon=timedelta(days=1),
            prioritises=True,
            shared=True,
            precision=exchange.precision,
        )

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Accept messages; by faults, some are refused, lost, delayed or doubled."""
        self._meet("put")
        self._check_written(messages)
        if not self._exchange.carries:
            for message in messages:
                self._exchange.heard(message.lane, 0.0)
            return ["row"] * len(messages)
        handles = [self._keep(message) for message in messages]
        self._part("put")
        if messages and not any(handles):
            self._fail("put: out of memory")
        return handles

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return due messages without waiting; note how long the caller would have waited.

        A broker that carries no messages returns after a ring, and otherwise ends the step.
        """
        self._meet("reserve")
        if not self._exchange.carries:
            rung, self.is_rung = self.is_rung, False
            if not rung and wait > 0:
                raise WouldWait(wait)
            return []
        if self._program.stage.broker_is_deaf():
            self.waits = min(wait, DEAF)
            return []
        found = self._exchange.inner.reserve(lanes, limit=limit, wait=0)
        self.received += len(found)
        at = self._program.stage.time.seconds
        self._reserved |= {each.receipt for each in found}
        self.unfinished |= {each.receipt: _Held(each.message.body, at) for each in found}
        self.waits = None if found else min(wait, self._exchange.next_delay(lanes))
        self._part("reserve")
        return found

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Delete reserved messages."""
        self._meet("acknowledge")
        for each in deliveries:
            if each.receipt not in self._reserved:
                raise Broken(f"{self._program.name} deleted a ticket that it had not reserved")
            last = self._exchange.inner.copies(each.message.body) == 1
            self._acknowledged(self._program, each, last=last)
        self._finish(deliveries)
        self._exchange.inner.acknowledge(deliveries)
        self._part("acknowledge")

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Return reserved messages to the broker, to be delivered again after a delay."""
        self._meet("put back")
        self._finish(deliveries)
        delay = self._exchange.rounded(delay)
        self._exchange.inner.put_back(deliveries, delay=delay)
        for each in deliveries:
            self._exchange.heard(each.message.lane, delay)
        self._part("put back")

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Return whether the broker holds a message."""
        self._meet("holds")
        return self._exchange.inner.holds(lane, handle, body)

    def has_any(self, lane: str) -> bool:
        """Return whether a lane has a message."""
        self._meet("has any")
        return self._exchange.inner.has_any(lane)

    def empty(self, lanes: Sequence[str]) -> int:
        """Delete the messages of lanes."""
        self._meet("empty")
        return self._exchange.inner.empty(lanes)

    def wake(self) -> None:
        """Wake the fetcher of this process."""
        self.is_rung = True
        self._woken()

    def close(self) -> None:
        """Do nothing: the broker holds no resources."""

    def check_finished(self) -> None:
        """Raise if a reserved message stays neither acknowledged nor put back for too long.

        A message that came a little early, or whose claim was refused, may be kept for a moment
        and until a hand is free: the next few steps finish it. Several are checked in order.
        """
        now = self._program.stage.time.seconds
        first = min(self.unfinished.values(), key=lambda each: each.since, default=None)
        if first is None or first.since >= now - LONGEST_KEPT:
            return
        first.checks += 1
        first.noticed = now if first.noticed is None else first.noticed
        if first.checks > MOST_CHECKS and first.noticed < now - TRIED_AGAIN:
            raise Broken(f"{self._program.name} reserved and let lie: {first.body}")

    def _check_written(self, messages: Sequence[Message]) -> None:
        for message in messages:
            ticket = read_ticket(message.body)
            if isinstance(ticket, Ticket) and not self._exchange.exists(ticket.execution):
                told = f"{ticket.execution}, which nobody has written"
                raise Broken(f"{self._program.name} rang for {told}")

    def _keep(self, message: Message) -> str:
        stage = self._program.stage
        strikes, faults = partial(stage.strikes, self._program), stage.faults
        if strikes("ticket_refused", faults.ticket_refused):
            self._tell("refuses a message")
            return ""
        if strikes("ticket_lost", faults.ticket_lost):
            self._tell("loses a message")
            self._exchange.lies.add(message.body)
            return "lost"
        if strikes("ticket_delayed", faults.ticket_delayed):
            self._tell("delays a message")
            self._exchange.lies.add(message.body)
            message = message._replace(delay=message.delay + self._program.chance.choice(DELAYS))
        message = message._replace(delay=self._exchange.rounded(message.delay))
        copies = 2 if strikes("ticket_doubled", faults.ticket_doubled) else 1
        handles = self._exchange.inner.put([message] * copies)
        self._exchange.heard(message.lane, message.delay)
        return handles[0]

    def _tell(self, what: str) -> None:
        stage = self._program.stage
        stage.trace.note("broker", what)
        stage.trace.count("broker lies")
        self._program.fail()

    def _finish(self, deliveries: Sequence[Delivery]) -> None:
        for each in deliveries:
            self.unfinished.pop(each.receipt, None)

    def _meet(self, name: str) -> None:
        """Let other actors act, and fail if the broker is away."""
        stage = self._program.stage
        stage.interleave(self._program)
        if stage.broker_is_away() or stage.strikes(
            self._program, "broker_fails", stage.faults.broker_fails / 2
        ):
            self._fail(name)

    def _part(self, name: str) -> None:
        """Fail after the operation took effect, or let other actors act."""
        stage = self._program.stage
        if self._breaks():
            self._fail(f"the answer to {name}")
        stage.interleave(self._program)

    def _breaks(self) -> bool:
        stage = self._program.stage
        return stage.strikes(self._program, "broker_fails", stage.faults.broker_fails / 2)

    def _fail(self, name: str) -> None:
        stage = self._program.stage
        stage.trace.note(self._program.name, f"broker: {name} fails")
        stage.trace.count("broker failures")
        self._program.fail()
        raise BrokerUnavailable(f"{name}: the broker cannot be reached.")
