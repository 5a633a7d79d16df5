"""Event listeners: functions of the user that `@app.on` calls when something happens."""

from collections.abc import Callable, Sequence

from sempre.engine.events import Events, Happened, Listener
from sempre.errors import InvalidInput, nearest

__all__ = ["add_listener"]


def add_listener(
    events: Events, given: Sequence[Happened | Listener]
) -> Listener | Callable[[Listener], Listener]:
    """Add a listener of all events, or return a decorator that adds one for the named events.

    Raises:
        InvalidInput: there is no event of that name.
    """
    if len(given) == 1 and callable(given[0]):
        events.listen(given[0])
        return given[0]
    names = [_event_of(name) for name in given]

    def listen(listener: Listener) -> Listener:
        events.listen(listener, *names)
        return listener

    return listen


def _event_of(name: object) -> Happened:
    """Return an event by its name; InvalidInput names the nearest one if there is none."""
    if isinstance(name, str) and name in set(Happened):
        return Happened(name)
    hint = nearest(name, list(Happened)) if isinstance(name, str) else ""
    allowed = "an event, such as @app.on(Happened.FAILED), or none for all: @app.on"
    raise InvalidInput("event", name, allowed=allowed, hint=hint)
