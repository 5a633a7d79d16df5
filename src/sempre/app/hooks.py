"""What an application lets the user's code listen to, wrap and refuse."""

from collections.abc import Callable

from sempre.app.middleware import AroundEnqueue, AroundPerform, Gate, Middleware
from sempre.engine.events import Events, Happened, Listener

__all__ = ["Hooks"]


class Hooks:
    """The side of an application that calls the user's code back."""

    events: Events
    middleware: Middleware

    def on(self, *names: Happened) -> Callable[[Listener], Listener]:
        """Call a function when something happens; for everything if nothing is named."""

        def listen(listener: Listener) -> Listener:
            self.events.listen(listener, *names)
            return listener

        return listen

    def around_enqueue(self, function: AroundEnqueue) -> AroundEnqueue:
        """Put a generator function around every batch of enqueues; see `sempre.app.middleware`."""
        self.middleware.around_enqueue(function)
        return function

    def around_perform(self, function: AroundPerform) -> AroundPerform:
        """Put a generator function around every run; see `sempre.app.middleware`."""
        self.middleware.around_perform(function)
        return function

    def gate(self, function: Gate) -> Gate:
        """Ask a function before every enqueue and run, such as that of a feature-flag service.

        It is called with a job's name and arguments, and returns why the work must not be done,
        or None. Then a new piece of work is rejected with that reason, and a run is skipped; but
        what a person has triggered is run.
        """
        self.middleware.add_gate(function)
        return function
