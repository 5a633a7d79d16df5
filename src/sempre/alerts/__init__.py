"""Channels of alerts: webhook, e-mail, command, pings and Sentry.

from sempre.alerts import Email, Webhook

app.alert(Webhook("https://hooks.example.com/ops", secret_env="HOOK_SECRET"))
app.alert(Email("ops@example.com", host="smtp.example.com"), tags=["billing"], remind="4h")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sempre.alerts.channel import Channel, DeliveryFailed
    from sempre.alerts.command import Command
    from sempre.alerts.mail import Email
    from sempre.alerts.ping import Heartbeat, Ping
    from sempre.alerts.sentry import Sentry
    from sempre.alerts.signature import sign, verify
    from sempre.alerts.webhook import Webhook

__all__ = [
    "Channel",
    "Command",
    "DeliveryFailed",
    "Email",
    "Heartbeat",
    "Ping",
    "Sentry",
    "Webhook",
    "sign",
    "verify",
]

# Where the names are. Each module is imported when a name of it is first used: an application
# without alerts imports no client of any protocol.
_HOMES = {
    "Channel": "channel",
    "Command": "command",
    "DeliveryFailed": "channel",
    "Email": "mail",
    "Heartbeat": "ping",
    "Ping": "ping",
    "Sentry": "sentry",
    "Webhook": "webhook",
    "sign": "signature",
    "verify": "signature",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
