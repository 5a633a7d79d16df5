"""The watchdog's message: a call for a pass that any worker answers, and that decides nothing.

The settings of the worker that answers count: a message that differs from them is replaced, and an
extra message, beside one that waits, is acknowledged. A worker checks for others before it puts a
message back: of several messages that are answered at once, the last one that is checked stays.
"""

from datetime import timedelta

from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.engine.tickets import LARGEST, SCHEDULER_QUEUE, WatchdogCall
from sempre.ports.broker import LARGEST_PRIORITY, Delivery, Message

__all__ = ["WatchdogMessage"]


class WatchdogMessage:
    """Puts the message on the broker, checks that the message exists, and answers it."""

    def __init__(self, engine: Engine) -> None:
        """Use the broker of an engine."""
        self._engine = engine

    @property
    def queue_name(self) -> str:
        """The lane of the message on the broker; on Beanstalkd, its tube."""
        return self._engine.bell.lane(SCHEDULER_QUEUE)

    @property
    def interval(self) -> int:
        """After how many seconds the message comes again, by the settings of this process."""
        seconds = int(self._engine.settings.watchdog_interval.total_seconds())
        return min(max(1, seconds), LARGEST)

    @property
    def priority(self) -> int:
        """Its priority, by the settings of this process."""
        return min(self._engine.settings.watchdog_priority, LARGEST_PRIORITY)

    def enqueue(self, *, interval: int | None = None, priority: int | None = None) -> str:
        """Put a message on the broker, due after the interval; return its handle.

        With the store as broker the pass row is the message, and the handle is empty.
        """
        bell, seconds = self._engine.bell, interval or self.interval
        if not bell.carries:
            return ""
        chosen = self.priority if priority is None else priority
        body, lane = WatchdogCall(seconds).to_text(), self.queue_name
        message = Message(lane, body, float(seconds), chosen)
        handle = (bell.attempt(lambda broker: broker.put([message])) or [""])[0]
        if handle:
            runs_at = self._engine.time.now() + timedelta(seconds=seconds)
            facts = {"id": handle, "interval": seconds, "runs_at": runs_at, "lane": lane}
            self._engine.events.emit(Happened.WATCHDOG_ENQUEUED, **facts, priority=chosen)
        return handle

    def exists(self) -> bool:
        """Return whether a message is waiting; one that a worker has reserved does not count."""
        bell, lane = self._engine.bell, self.queue_name
        return not bell.carries or bool(bell.attempt(lambda broker: broker.has_any(lane)))

    def ensure(self) -> None:
        """Put a message on the broker if there is none; a process checks at most once a minute."""
        if self._engine.bell.carries:
            self._engine.watchdog_checks.run(self._enqueue_missing)

    def answer(self, delivery: Delivery, call: WatchdogCall) -> None:
        """Let the message come again by the settings of this process; end an extra message.

        A replacement is put before the message is acknowledged: a crash in between leaves one
        message too many.
        """
        bell = self._engine.bell
        agrees = (call.interval, delivery.message.priority) == (self.interval, self.priority)
        if self.exists() or (not agrees and self.enqueue()):
            bell.attempt(lambda broker: broker.acknowledge([delivery]))
        else:
            bell.attempt(lambda broker: broker.put_back([delivery], delay=float(self.interval)))

    def _enqueue_missing(self) -> None:
        if not self.exists() and not self._engine.bell.breaker.is_open:
            self.enqueue()
