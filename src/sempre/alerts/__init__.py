"""Channels of alerts: webhook, e-mail, command, pings and Sentry.

from sempre.alerts import Email, Webhook

app.alert(Webhook("https://hooks.example.com/ops", secret_env="HOOK_SECRET"))
app.alert(Email("ops@example.com", host="smtp.example.com"), tags=["billing"], remind="4h")
"""

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
