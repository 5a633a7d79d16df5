"""Heartbeats: a ping while no incident is open, so that silence is the alarm."""

from datetime import timedelta
from typing import TYPE_CHECKING

from sempre.alerts.channel import Channel
from sempre.app.alerts.names import scan_job
from sempre.app.alerts.scan import last_scan
from sempre.app.health.reader import Reader
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.rules import Rule
from sempre.errors import Skip
from sempre.executors.current import current

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["HeartbeatRun"]

OLDEST_SCAN = timedelta(minutes=5)


class HeartbeatRun:
    """Sends the pings of one heartbeat."""

    def __init__(self, app: "Sempre", channel: Channel, rule: Rule) -> None:
        """Ping for the incidents that a rule covers."""
        self._app = app
        self._channel = channel
        self._rule = rule

    def run(self) -> str:
        """Ping success if no covered incident is open, and fail if one is.

        Without a recent scan there is no ping: nothing is known.
        """
        reader = Reader(self._app.engine)
        last = last_scan(reader, scan_job(self._app.settings.owner))
        now = reader.now
        if last.scanned_at is None or now - last.scanned_at > OLDEST_SCAN:
            raise Skip("no scan of alerts has succeeded within 5 minutes")
        bad = [each for each in last.open if each.is_seen and self._rule.covers(each, now)]
        alert = Alert(
            id=current().id,
            phase=Phase.FAIL if bad else Phase.SUCCESS,
            name=bad[0].name if bad else self._channel.name,
            trouble=str(bad[0].trouble) if bad else "",
            since=bad[0].since if bad else None,
            count=len(bad),
            error=", ".join(each.subject for each in bad[:10]),
        )
        return self._channel.send(alert, delivery=current().id)
