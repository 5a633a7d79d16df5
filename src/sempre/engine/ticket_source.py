"""The broker as a source of work: tickets are reserved, opened, and only then acknowledged.

| state | set | ends | effect |
|---|---|---|---|
| `_deliveries.early` | a ticket came early, or its claim was refused | in time | a claim then |
| `tests` | a sweep found work that a ticket should have reported | by an answer | a probe |

A worker that waits for tickets is woken by the broker, by `Broker.wake`, or after its time.
"""

from collections.abc import Callable, Sequence

from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.core import Engine
from sempre.engine.deliveries import Deliveries
from sempre.engine.delivery_tests import DeliveryTests
from sempre.engine.tickets import (
    SCHEDULER_QUEUE,
    Probe,
    Sentinel,
    Ticket,
    WatchdogCall,
    read_ticket,
)
from sempre.engine.wake_times import NEARLY
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Delivery
from sempre.ports.messages import Wanted

__all__ = ["TicketSource"]


class TicketSource:
    """Finds work for one worker on its broker.

    Attributes:
        tests: whether the broker delivers what it takes.
        was_woken: whether a wake-up has ended the last wait.
    """

    def __init__(
        self,
        engine: Engine,
        claims: Claims,
        wanted: Wanted,
        *,
        begin: Callable[[ClaimResult], int],
        call_watchdog: Callable[[], None],
    ) -> None:
        """Hand claim results to `begin`; `call_watchdog` is called for its messages."""
        self._engine = engine
        self._claims = claims
        self._begin = begin
        self._call_watchdog = call_watchdog
        self._watchdog = WatchdogMessage(engine)
        self._deliveries = Deliveries(engine)
        self._queues = (SCHEDULER_QUEUE, *sorted(wanted.queues))
        self.tests = DeliveryTests(engine)
        self.was_woken = False

    @property
    def next_early(self) -> float:
        """When the first ticket in hand is due."""
        return self._deliveries.early.next

    @property
    def next(self) -> float:
        """When to step or to ask next, by the steady clock."""
        # While the broker rests after a failure, nothing can be asked of it.
        ask_at = self._engine.clock.elapsed() + self._engine.bell.breaker.rest
        return min(self.next_early, max(self.tests.next, ask_at))

    def step(self, *, session: str, limit: int) -> float:
        """Claim the executions of tickets in hand that are due, at most `limit`."""
        in_time = self._deliveries.early.due(self._engine.clock.elapsed(), limit)
        if in_time:
            self._claim(in_time, [], session)
        return self.next

    def listen(self, *, session: str, limit: int, wait: float) -> bool:
        """Wait for tickets and open them; False if the broker cannot be asked."""
        bell, began = self._engine.bell, self._engine.clock.elapsed()
        # By the store's present identity: a store that is set up again has other lanes.
        lanes = [bell.lane(queue) for queue in self._queues]
        # A broker that has failed is tried without waiting.
        patience = 0.0 if bell.breaker.is_open else wait
        deliveries = bell.attempt(lambda broker: broker.reserve(lanes, limit=limit, wait=patience))
        if deliveries is None:
            self.tests.interrupt()
            return False
        ended = self._engine.clock.elapsed()
        self.tests.listened(until=ended)
        is_early = ended - began < patience - NEARLY
        self.was_woken = not deliveries and bell.was_woken(early=is_early)
        if deliveries:
            self._open(deliveries, session)
        return True

    def _open(self, deliveries: Sequence[Delivery], session: str) -> None:
        """Claim the executions of tickets, and handle messages of other kinds."""
        by_id: dict[str, Delivery] = {}
        finished: list[Delivery] = []
        for delivery in deliveries:
            ticket = read_ticket(delivery.message.body)
            if isinstance(ticket, Ticket) and ticket.execution not in by_id:
                by_id[ticket.execution] = delivery
            elif isinstance(ticket, WatchdogCall):
                self._answer_watchdog(delivery, ticket)
            elif isinstance(ticket, Sentinel):
                self._deliveries.put_back(delivery, self._engine.bell.horizon.total_seconds())
            elif isinstance(ticket, Probe):
                self.tests.note_probe(delivery.message.lane, ticket.nonce)
                finished.append(delivery)
            else:
                finished.append(delivery)
        self._claim(by_id, finished, session)

    def _claim(self, tickets: dict[str, Delivery], finished: list[Delivery], session: str) -> None:
        """Claim the executions of tickets, begin them, and only then acknowledge the tickets."""
        result = self._claims.by_ids(list(tickets), session=session) if tickets else ClaimResult()
        self._begin(result)
        self._deliveries.give_back(tickets, result, finished)

    def _answer_watchdog(self, delivery: Delivery, call: WatchdogCall) -> None:
        """Put the message back first: it must outlive the pass."""
        self._watchdog.answer(delivery, call)
        self._call_watchdog()
