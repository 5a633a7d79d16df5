"""A channel of a user's own that keeps what it was told, and can be down."""

from sempre.alerts import Channel, DeliveryFailed
from sempre.domain.alerts.alert import Alert

__all__ = ["Recording"]


class Recording(Channel):
    """Keeps every message."""

    kind = "recording"
    works_in_tests = True

    def __init__(self, name: str | None = None, *, hears_runs: bool = False) -> None:
        super().__init__(name)
        self.messages: list[Alert] = []
        self.deliveries: list[str] = []
        self.is_down = False
        self.hears_runs = hears_runs

    @property
    def place(self) -> str:
        return "this test"

    def send(self, alert: Alert, *, delivery: str) -> str:
        if self.is_down:
            raise DeliveryFailed("down.")
        self.messages.append(alert)
        self.deliveries.append(delivery)
        return "kept"

    @property
    def told(self) -> list[str]:
        return [
            f"{each.phase} {each.trouble} {each.name}".replace("  ", " ") for each in self.messages
        ]
