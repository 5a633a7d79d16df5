"""Pings: a monitoring service that raises the alarm when they stay away.

A worker that is down sends no alert. A service outside that expects a ping notices the silence.
"""

from datetime import timedelta

from sempre.alerts.channel import Channel, read_limit
from sempre.alerts.https import Request, check_url, masked_url, request
from sempre.alerts.network import Allowed, read_networks
from sempre.domain.alerts.alert import Alert, Phase
from sempre.grids.intervals import read_duration

__all__ = ["Heartbeat", "Ping"]

SHORTEST_INTERVAL = timedelta(minutes=1)
ENDINGS = {
    Phase.START: "/start",
    Phase.FAIL: "/fail",
    Phase.OPENED: "/fail",
    Phase.REMINDER: "/fail",
}


class Ping(Channel):
    """Pings a URL at the start and the end of each run of a schedule.

    Success pings the URL itself, start pings URL/start and a failure pings URL/fail, as
    healthchecks.io and its relatives understand it. The body of a failure is the error.

    Args:
        url: an https URL of the service, one for each schedule.
        allow_private: True, or the private networks that the URL may lead to.
        authority: a file with the certificates of an own authority.
        timeout: for one try.
        name: of the channel; by default `ping`.
    """

    kind = "ping"
    hears_incidents = False
    hears_runs = True
    needs_scope = True

    def __init__(
        self,
        url: str,
        *,
        allow_private: Allowed = False,
        authority: str | None = None,
        timeout: timedelta | float | str = "10s",
        name: str | None = None,
    ) -> None:
        """Check the URL; nothing is connected yet."""
        super().__init__(name)
        self._allowed = read_networks(allow_private)
        self._url = check_url(url, allowed=self._allowed)
        self._authority = authority
        self._timeout = read_limit(timeout)

    @property
    def place(self) -> str:
        """The host of the URL: the path is what a ping is known by."""
        return masked_url(self._url)

    def send(self, alert: Alert, *, delivery: str) -> str:
        """Ping once; an answer 2xx accepts it."""
        base, mark, query = self._url.partition("?")
        wanted = Request(
            url=f"{base.rstrip('/')}{ENDINGS.get(alert.phase, '')}{mark}{query}",
            body=alert.text.encode() if alert.is_bad else b"",
            headers={"Content-Type": "text/plain; charset=utf-8", "Sempre-Delivery": delivery},
            timeout=self._timeout,
            allowed=self._allowed,
            authority=self._authority,
        )
        return f"answered {request(wanted).status}"


class Heartbeat(Ping):
    """Pings a URL while no incident is open: silence, or a ping to URL/fail, is the alarm.

    Args:
        url: an https URL of the service, for the whole store.
        every: how often; the service should expect it with a grace of a few minutes.
        options: as of `Ping`.
    """

    kind = "heartbeat"
    hears_runs = False
    needs_scope = False

    def __init__(
        self,
        url: str,
        *,
        every: timedelta | float | str = "5m",
        allow_private: Allowed = False,
        authority: str | None = None,
        timeout: timedelta | float | str = "10s",
        name: str | None = None,
    ) -> None:
        """Check the URL and the interval."""
        options = {"allow_private": allow_private, "authority": authority, "name": name}
        super().__init__(url, timeout=timeout, **options)  # type: ignore[arg-type]  # typed above
        self.every = read_duration("every", every, least=SHORTEST_INTERVAL)
