"""Sentry: incidents as events, and runs as check-ins of cron monitors.

The SDK makes the events; this module sends them, and knows whether Sentry accepted them. The usual
transport of the SDK sends in the background and drops what it cannot send.
"""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from sempre.alerts.channel import Channel, DeliveryFailed, Secret, read_limit
from sempre.alerts.https import Request, request
from sempre.alerts.network import Allowed, Networks, read_networks
from sempre.domain.alerts.alert import Alert, Phase
from sempre.errors import MissingExtra

if TYPE_CHECKING:
    import sentry_sdk
    from sentry_sdk.envelope import Envelope
    from sentry_sdk.types import Event

__all__ = ["Sentry"]

STATUSES = {Phase.START: "in_progress", Phase.SUCCESS: "ok", Phase.FAIL: "error"}
LEVELS = {Phase.OPENED: "error", Phase.REMINDER: "error", Phase.FAIL: "error"}
LONGEST_SLUG = 50
_NO_SLUG = re.compile(r"[^a-z0-9_-]+")
_TYPE = re.compile(r"([A-Za-z_][\w.]*): (.*)", re.DOTALL)


class Sentry(Channel):
    """Sends incidents to Sentry as events, and runs of schedules as check-ins of its monitors.

    Each schedule is a monitor, configured from its grid. Needs `pip install "sempre[sentry]"`.

    Args:
        dsn: of the project; by default $SENTRY_DSN.
        dsn_env: another environment variable with the DSN.
        environment: as Sentry shows it.
        check_ins: whether runs are reported, besides incidents.
        allow_private: True, or the private networks in which a Sentry of one's own may be.
        authority: a file with the certificates of an own authority.
        timeout: for one try.
        name: of the channel; by default `sentry`.
    """

    kind = "sentry"
    needs_monitor = True

    def __init__(
        self,
        dsn: str | None = None,
        *,
        dsn_env: str | None = None,
        environment: str | None = None,
        check_ins: bool = True,
        allow_private: Allowed = False,
        authority: str | None = None,
        timeout: timedelta | float | str = "10s",
        name: str | None = None,
    ) -> None:
        """Check the values; the SDK is imported when the first message is sent."""
        super().__init__(name)
        variable = "SENTRY_DSN" if dsn is None and dsn_env is None else dsn_env
        self._dsn = Secret("dsn", dsn, variable)
        self._environment = environment
        self._allowed = read_networks(allow_private)
        self._authority = authority
        self._timeout = read_limit(timeout)
        self.hears_runs = check_ins

    @property
    def place(self) -> str:
        """Where the DSN comes from; the DSN itself is a secret."""
        more = " with check-ins" if self.hears_runs else ""
        return f"DSN of {f'${self._dsn.variable}' if self._dsn.variable else 'the code'}{more}"

    def send(self, alert: Alert, *, delivery: str) -> str:
        """Send one event or check-in; Sentry has accepted it."""
        client = self._client()
        try:
            event = _check_in(alert) if alert.phase in STATUSES else _event(alert)
            event["event_id"] = _hex(delivery)
            if client.capture_event(cast("Event", event)) is None:
                raise DeliveryFailed("the Sentry SDK discarded the event; is the DSN right?")
        finally:
            client.close()
        return "accepted by Sentry"

    def _client(self) -> "sentry_sdk.Client":
        try:
            import sentry_sdk  # noqa: PLC0415 - an optional dependency
            from sentry_sdk.utils import BadDsn  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra("sentry-sdk", extra="sentry") from error
        try:
            return sentry_sdk.Client(
                dsn=self._dsn.reveal(),
                transport=_transport(self._allowed, self._authority, self._timeout),
                environment=self._environment,
                default_integrations=False,
                auto_session_tracking=False,
                send_client_reports=False,
            )
        except BadDsn as error:
            raise DeliveryFailed("the DSN of Sentry cannot be read.") from error


def _transport(allowed: Networks, authority: str | None, timeout: float) -> type[Any]:
    """Return a transport of the SDK that sends at once, and raises if Sentry does not accept."""
    from sentry_sdk.transport import Transport  # noqa: PLC0415 - an optional dependency

    class SendingTransport(Transport):
        def capture_envelope(self, envelope: "Envelope") -> None:
            assert self.parsed_dsn is not None  # noqa: S101 - a client without a DSN sends nothing
            auth = self.parsed_dsn.to_auth("sempre")
            wanted = Request(
                url=auth.get_api_url(),
                body=envelope.serialize(),
                headers={
                    "Content-Type": "application/x-sentry-envelope",
                    "X-Sentry-Auth": auth.to_header(),
                },
                timeout=timeout,
                allowed=allowed,
                authority=authority,
            )
            request(wanted)

    return SendingTransport


def _event(alert: Alert) -> dict[str, Any]:
    """Return an incident as an event: one issue for each schedule or job and kind of trouble."""
    tags = {"sempre.phase": str(alert.phase), "sempre.job": alert.job or alert.name}
    tags["sempre.schedule" if alert.is_schedule else "sempre.one_off"] = alert.name
    if alert.trouble:
        tags["sempre.trouble"] = alert.trouble
    event: dict[str, Any] = {
        "level": LEVELS.get(alert.phase, "info"),
        "logger": "sempre",
        "message": alert.title,
        "fingerprint": ["sempre", alert.trouble, alert.name],
        "tags": tags,
        "contexts": {"sempre": alert.to_json()},
    }
    found = _TYPE.fullmatch(alert.error)
    if alert.is_bad and alert.error:
        kind, value = (found[1], found[2]) if found else ("Failure", alert.error)
        event["exception"] = {"values": [{"type": kind, "value": value}]}
    return event


def _check_in(alert: Alert) -> dict[str, Any]:
    """Return a run as a check-in; start and end of one run have one id."""
    event: dict[str, Any] = {
        "type": "check_in",
        "monitor_slug": _slug(alert.name),
        "check_in_id": _hex(alert.execution),
        "status": STATUSES[alert.phase],
        "duration": alert.seconds,
    }
    if alert.monitor:
        event["monitor_config"] = dict(alert.monitor)
    return event


def _slug(name: str) -> str:
    return _NO_SLUG.sub("-", name.lower()).strip("-")[:LONGEST_SLUG] or "schedule"


def _hex(identity: str) -> str:
    return identity.replace("-", "").lower()
