"""The channel of alerts: what every channel is and does, and how its secrets are kept."""

import os
from abc import ABC, abstractmethod
from datetime import timedelta

from sempre.domain.alerts.alert import Alert
from sempre.domain.names import check_word
from sempre.errors import PolicyError, SempreError
from sempre.grids.intervals import read_duration

__all__ = ["Channel", "DeliveryFailed", "Secret", "read_limit"]

SHORTEST_LIMIT = timedelta(seconds=1)
LONGEST_LIMIT = timedelta(minutes=1)


class DeliveryFailed(SempreError):
    """A channel did not accept a message.

    Attributes:
        retry_after: how long the receiver wants to be left alone, if it said so.
    """

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        """Say what failed; the message holds no secret."""
        super().__init__(message)
        self.retry_after = retry_after


class Channel(ABC):
    """Sends alerts to one place.

    A channel is declared in code and never stored: rows hold its name, and the worker that runs a
    delivery finds the channel in its own code. So a secret never reaches the store.

    Attributes:
        kind: the kind of channel in one word.
        name: unique in an application; deliveries are stored under this name.
        hears_incidents: whether the channel gets messages about incidents.
        hears_runs: whether the channel gets messages about runs: start, success and fail.
        needs_scope: whether a rule must name schedules, jobs or tags.
        needs_monitor: whether messages about runs are sent only where a monitor can be configured.
        every: for a heartbeat, how often it is sent; None for all other channels.
        works_in_tests: whether messages are sent on virtual time, in `app.testing`. A simulated
            failure must not wake anybody.
    """

    kind: str
    hears_incidents = True
    hears_runs = False
    needs_scope = False
    needs_monitor = False
    works_in_tests = False
    every: timedelta | None = None

    def __init__(self, name: str | None) -> None:
        """Take a name, by default the kind of channel."""
        self.name = check_word("name of the channel", self.kind if name is None else name)

    def __repr__(self) -> str:
        """Show the name and the place, with secrets masked."""
        return f"<{type(self).__name__} {self.name}: {self.place}>"

    @property
    @abstractmethod
    def place(self) -> str:
        """Where messages go, for people, with secrets masked."""

    @abstractmethod
    def send(self, alert: Alert, *, delivery: str) -> str:
        """Send one message now, and return the receiver's answer in a few words.

        Args:
            alert: the message.
            delivery: the id of the delivery; equal in each try.

        Raises:
            DeliveryFailed: the message was not accepted; it may be sent again.
        """


class Secret:
    """A secret of a channel, written in code or found in the environment when it is used."""

    def __init__(self, field: str, value: str | None, variable: str | None) -> None:
        """Take the value, or the name of an environment variable.

        Raises:
            PolicyError: both were given, or one of them is not a text.
        """
        if value is not None and variable is not None:
            raise PolicyError(
                f"{field}_env", variable, allowed=f"{field}= or {field}_env=, not both"
            )
        for given in (value, variable):
            if given is not None and (not isinstance(given, str) or not given):
                raise PolicyError(field, "...", allowed="a text that is not empty")
        self._field = field
        self._value = value
        self.variable = variable

    def __repr__(self) -> str:
        """Show where the secret comes from, never the secret."""
        return f"<Secret ${self.variable}>" if self.variable else "<Secret>"

    def __bool__(self) -> bool:
        """Whether there is a secret."""
        return self._value is not None or self.variable is not None

    def reveal(self) -> str:
        """Return the secret.

        Raises:
            DeliveryFailed: the environment variable is missing in this process.
        """
        if self.variable is None:
            return self._value or ""
        found = os.environ.get(self.variable)
        if not found:
            message = f"the environment variable {self.variable} ({self._field}) is not set"
            raise DeliveryFailed(f"{message} in this worker.")
        return found


def read_limit(value: timedelta | float | str) -> float:
    """Return the time limit of one delivery in seconds: one second to one minute."""
    limit = read_duration("timeout", value, least=SHORTEST_LIMIT)
    if limit > LONGEST_LIMIT:
        raise PolicyError("timeout", value, allowed="at most one minute")
    return limit.total_seconds()
