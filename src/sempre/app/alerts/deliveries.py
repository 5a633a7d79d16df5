"""Deliveries: the job of a channel, which sends one message."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sempre.alerts.channel import Channel, DeliveryFailed
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.arguments import Json
from sempre.domain.job_ends import GiveUp, RetryLater
from sempre.domain.policies import Retry
from sempre.domain.unique import Unique
from sempre.errors import Skip
from sempre.executors.current import current

__all__ = ["OPTIONS", "RUN_PHASES", "Deliverer"]

OPTIONS: Mapping[str, object] = {
    "retry": Retry(12, base="5s", cap="1h", jitter="5s"),
    "timeout": "3m",
    "priority": 100,
    "unique": Unique("key", within="30d"),
}
"""Retries for about five hours; a message is unique for as long as its execution is kept."""
RUN_PHASES = frozenset({Phase.START, Phase.SUCCESS, Phase.FAIL})
TOO_LATE = timedelta(minutes=15)
LONGEST_WAIT = timedelta(days=1)


class Deliverer:
    """Sends the messages of one channel."""

    def __init__(self, channel: Channel, now: Callable[[], datetime]) -> None:
        """Send to a channel of this code; `now` returns the store's now."""
        self._channel = channel
        self._now = now

    def run(self, key: str, alert: dict[str, Json]) -> str:  # noqa: ARG002 - the key makes it unique
        """Send one message; a failure is tried again by the retry policy of the job."""
        try:
            message = Alert.read(alert)
        except (KeyError, TypeError, ValueError) as error:
            raise GiveUp(f"the message is of a newer release: {error!r}") from error
        age = self._now() - current().slot
        if message.phase in RUN_PHASES and age > TOO_LATE:
            # Services take the time of arrival for the time of the run.
            raise Skip("too late for a message about a run")
        try:
            return self._channel.send(message, delivery=current().id)
        except DeliveryFailed as error:
            if error.retry_after is not None and age < LONGEST_WAIT:
                raise RetryLater(error.retry_after, str(error)) from error
            raise
