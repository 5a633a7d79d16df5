"""E-mail: alerts by SMTP, encrypted by TLS unless it is turned off."""

import smtplib
import ssl
from collections.abc import Sequence
from datetime import timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import Literal

from sempre.alerts.channel import Channel, DeliveryFailed, Secret, read_limit
from sempre.clock import Clock, SystemClock
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.policies import check_choice
from sempre.errors import PolicyError

__all__ = ["Email"]

Security = Literal["starttls", "tls", "none"]
PORTS = {"starttls": 587, "tls": 465, "none": 25}


class Email(Channel):
    """Sends alerts as plain text by SMTP.

    Args:
        to: one address or several.
        host: of the SMTP server.
        port: by default 587 for starttls, 465 for tls and 25 for none.
        security: "starttls" (default), "tls", or "none" for a relay on the same machine.
        sender: the address in From; by default `sempre@` the host name.
        user: of the account, if the server wants one.
        password: of the account.
        password_env: the environment variable with the password, instead.
        authority: a file with the certificates of an own authority.
        timeout: for each step of the conversation with the server.
        name: of the channel; by default `email`.
    """

    kind = "email"

    def __init__(
        self,
        to: str | Sequence[str],
        *,
        host: str,
        port: int | None = None,
        security: Security = "starttls",
        sender: str | None = None,
        user: str | None = None,
        password: str | None = None,
        password_env: str | None = None,
        authority: str | None = None,
        timeout: timedelta | float | str = "15s",
        name: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Check the addresses; nothing is connected yet."""
        super().__init__(name)
        self._to = [_checked("to", each) for each in ([to] if isinstance(to, str) else to)]
        if not self._to:
            raise PolicyError("to", to, allowed="an e-mail address, or several")
        self._security = check_choice("security", security, Security)
        self._host = host
        self._port = port or PORTS[self._security]
        self._sender = _checked("sender", sender or f"sempre@{host}")
        self._user = user
        self._password = Secret("password", password, password_env)
        if self._password and self._security == "none":
            allowed = '"starttls" or "tls": a password is not sent in clear text'
            raise PolicyError("security", security, allowed=allowed)
        self._authority = authority
        self._timeout = read_limit(timeout)
        self._clock = clock or SystemClock()

    @property
    def place(self) -> str:
        """The addresses and the server."""
        return f"{', '.join(self._to)} by {self._host}:{self._port} ({self._security})"

    def send(self, alert: Alert, *, delivery: str) -> str:
        """Send one message; the server has accepted it for every address."""
        message = self._message(alert, delivery)
        try:
            with self._server() as server:
                if self._user is not None:
                    server.login(self._user, self._password.reveal())
                refused = server.send_message(message, self._sender, self._to)
        except (OSError, smtplib.SMTPException) as error:
            reason = _reason(error)
            raise DeliveryFailed(f"{self._host}:{self._port} failed: {reason}.") from error
        if refused:
            names = ", ".join(refused)
            raise DeliveryFailed(f"{self._host}:{self._port} refused {names}.")
        return f"accepted by {self._host}"

    def _server(self) -> smtplib.SMTP:
        place, limit = (self._host, self._port), self._timeout
        if self._security == "none":
            return smtplib.SMTP(*place, timeout=limit)
        context = ssl.create_default_context(cafile=self._authority)
        if self._security == "tls":
            return smtplib.SMTP_SSL(*place, timeout=limit, context=context)
        server = smtplib.SMTP(*place, timeout=limit)
        try:
            server.starttls(context=context)
        except BaseException:
            server.close()
            raise
        return server

    def _message(self, alert: Alert, delivery: str) -> EmailMessage:
        message = EmailMessage()
        domain = self._sender.rpartition("@")[2]
        thread = f"<{sha256(alert.id.encode()).hexdigest()[:32]}@{domain}>"
        message["Subject"] = f"[Sempre] {alert.title}"
        message["From"] = self._sender
        message["To"] = ", ".join(self._to)
        message["Date"] = format_datetime(self._clock.now())
        # Equal in each try: a mail server that got a message twice can show it once.
        message["Message-ID"] = thread if alert.phase is Phase.OPENED else f"<{delivery}@{domain}>"
        if alert.phase in (Phase.REMINDER, Phase.RECOVERED):
            message["In-Reply-To"] = message["References"] = thread
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(f"{alert.text}\n")
        return message


def _checked(field: str, value: object) -> str:
    """Return an e-mail address; PolicyError for any other text, line breaks above all."""
    try:
        return Address(addr_spec=str(value)).addr_spec
    except (ValueError, IndexError) as error:
        raise PolicyError(field, value, allowed="an e-mail address") from error


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return f"{error.smtp_code} {' '.join(text.split())}".rstrip(".")
    return (str(error) or type(error).__name__).rstrip(".")
