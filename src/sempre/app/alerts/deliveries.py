"""Deliveries: the job of a channel, which sends one message."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from sempre.alerts.channel import Channel, DeliveryFailed
from sempre.app.alerts.names import delivery_job
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.rules import recovery_key
from sempre.domain.arguments import Json
from sempre.domain.job_ends import GiveUp, RetryLater
from sempre.domain.policies import Retry
from sempre.domain.unique import Unique
from sempre.errors import Skip
from sempre.executors.current import current
from sempre.ports.messages import ExecutionQuery

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["OPTIONS", "RUN_PHASES", "Deliverer"]

OPTIONS: Mapping[str, object] = {
    "retry": Retry(12, base="5s", cap="1h", jitter="5s"),
    "timeout": "3m",
    "priority": 100,
    "unique": Unique("key", within="30d"),
}
"""Retries for about 3 h 25 min; a message is unique for as long as its execution is kept."""
RUN_PHASES = frozenset({Phase.START, Phase.SUCCESS, Phase.FAIL})
TOO_LATE = timedelta(minutes=15)
LONGEST_WAIT = timedelta(days=1)
NEWEST = 100


class Deliverer:
    """Sends the messages of one channel."""

    def __init__(self, app: "Sempre", channel: Channel) -> None:
        """Send to a channel of this code."""
        self._app = app
        self._channel = channel

    def run(self, key: str, alert: dict[str, Json]) -> str:  # noqa: ARG002 - the key makes it unique
        """Send one message; a failure is tried again by the retry policy of the job."""
        try:
            message = Alert.read(alert)
        except (KeyError, TypeError, ValueError) as error:
            raise GiveUp(f"the message is of a newer release: {error!r}") from error
        age = self._app.engine.time.now() - current().slot
        self._skip_needless(message, age)
        try:
            return self._channel.send(message, delivery=current().id)
        except DeliveryFailed as error:
            if error.retry_after is not None and age < LONGEST_WAIT:
                raise RetryLater(error.retry_after, str(error)) from error
            raise

    def _skip_needless(self, message: Alert, age: timedelta) -> None:
        """Raise Skip for a message that would mislead its receiver."""
        if self._app.composition.is_virtual and not self._channel.works_in_tests:
            raise Skip("on virtual time nothing is sent")
        if message.phase in RUN_PHASES and age > TOO_LATE:
            # Services take the time of arrival for the time of the run.
            raise Skip("too late for a message about a run")
        if message.is_bad and current().attempt > 1 and self._is_over(message):
            # A receiver that got the end first would take the trouble for a new one.
            raise Skip("the incident is over; the message about its end reports it")

    def _is_over(self, message: Alert) -> bool:
        """Return whether the end of an incident was enqueued for this channel."""
        query = ExecutionQuery(job=delivery_job(self._channel.name), limit=NEWEST)
        engine = self._app.engine
        rows = engine.read(engine.store.executions(query)).items
        return any(row.snapshot.args.get("key") == recovery_key(message.id) for row in rows)
