"""The part of a store's port that turns switches off and on."""

from typing import Protocol

from sempre.domain.action import Action
from sempre.ports.messages import Reading, Switch

__all__ = ["Switches"]


class Switches(Protocol):
    """The kill switches of a store; `due`, `claim` and `enqueue` act by them."""

    def switch(
        self, switch: Switch, *, off: bool, action: Action | None = None
    ) -> Reading[list[Switch]]:
        """Turn a switch off, so that it stops its target, or on again; return those that are off.

        After the return no claim of a stopped row commits, except of kind manual. A switch that is
        turned on frees the rows that it held; where its time is over, the next tick of any session
        does. Switches come by name.
        """
        ...

    def switches(self) -> Reading[list[Switch]]:
        """Return the switches that are off, by name, with how much each has rejected.

        A switch whose time is over is left out, though its held rows may wait for the next tick.
        """
        ...
