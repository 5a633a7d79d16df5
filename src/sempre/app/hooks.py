"""What an application lets the user's code listen to, wrap and refuse."""

from collections.abc import Callable
from typing import overload

from sempre.app.middleware import AroundEnqueue, AroundPerform, Gate, Middleware
from sempre.engine.events import Events, Happened, Listener
from sempre.errors import InvalidInput, nearest

__all__ = ["Hooks"]


class Hooks:
    """The side of an application that calls the user's code back."""

    events: Events
    middleware: Middleware

    @overload
    def on(self, listener: Listener, /) -> Listener: ...
    @overload
    def on(self, *names: Happened) -> Callable[[Listener], Listener]: ...
    def on(self, *names: Happened | Listener) -> Listener | Callable[[Listener], Listener]:
        """Call a function when something happens; for everything if nothing is named.

            @app.on(Happened.FAILED)
            def alert(event: Event) -> None: ...

        A function that raises is logged and called again at the next event.

        Raises:
            InvalidInput: there is no event of that name.
        """
        if len(names) == 1 and callable(names[0]):
            self.events.listen(names[0])
            return names[0]
        chosen = [_happened(name) for name in names]

        def listen(listener: Listener) -> Listener:
            self.events.listen(listener, *chosen)
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


def _happened(name: object) -> Happened:
    """Return an event by its name; InvalidInput, with the nearest one, if there is none."""
    if isinstance(name, str) and name in set(Happened):
        return Happened(name)
    hint = nearest(name, list(Happened)) if isinstance(name, str) else ""
    allowed = "an event, such as @app.on(Happened.FAILED), or none for all: @app.on"
    raise InvalidInput("event", name, allowed=allowed, hint=hint)
