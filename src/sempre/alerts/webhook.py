"""Webhooks: alerts as signed JSON to a URL."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta

from sempre.alerts.channel import Channel, Secret, read_limit
from sempre.alerts.https import Request, check_url, masked_url, request
from sempre.alerts.network import Allowed, read_networks
from sempre.alerts.signature import HEADER, sign
from sempre.clock import Clock, SystemClock
from sempre.domain.alerts.alert import Alert
from sempre.domain.arguments import Json

__all__ = ["Body", "Webhook"]

Body = Callable[[Alert], Json]
"""Returns the JSON that a receiver expects, for services with a format of their own."""


class Webhook(Channel):
    """Posts alerts as JSON to a URL, signed with HMAC-SHA256 and the time of sending.

    Args:
        url: an https URL; http is for private networks that `allow_private` names.
        secret: signs each message; see `sempre.alerts.verify`.
        secret_env: the environment variable with the secret, instead.
        headers: more headers, such as an account; never shown.
        body: makes the JSON of a message; by default `Alert.to_json`.
        allow_private: True, or the private networks that the URL may lead to.
        authority: a file with the certificates of an own authority.
        timeout: for one try, from resolving the name to the end of the answer.
        name: of the channel; by default `webhook`.
    """

    kind = "webhook"

    def __init__(
        self,
        url: str,
        *,
        secret: str | None = None,
        secret_env: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        allow_private: Allowed = False,
        authority: str | None = None,
        timeout: timedelta | float | str = "10s",
        name: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Check the URL; nothing is connected yet."""
        super().__init__(name)
        self._allowed = read_networks(allow_private)
        self._url = check_url(url, allowed=self._allowed)
        self._secret = Secret("secret", secret, secret_env)
        self._headers = dict(headers or {})
        self._body = body or Alert.to_json
        self._authority = authority
        self._timeout = read_limit(timeout)
        self._clock = clock or SystemClock()

    @property
    def place(self) -> str:
        """The host of the URL, and whether messages are signed."""
        return f"{masked_url(self._url)}{', signed' if self._secret else ''}"

    def send(self, alert: Alert, *, delivery: str) -> str:
        """Post one message; an answer 2xx accepts it."""
        body = json.dumps(self._body(alert), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Sempre-Delivery": delivery, **self._headers}
        if self._secret:
            timestamp = int(self._clock.now().timestamp())
            headers[HEADER] = sign(body, self._secret.reveal(), timestamp=timestamp)
        wanted = Request(
            url=self._url,
            body=body,
            headers=headers,
            timeout=self._timeout,
            allowed=self._allowed,
            authority=self._authority,
        )
        return f"answered {request(wanted).status}"
