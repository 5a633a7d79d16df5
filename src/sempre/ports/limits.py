"""The part of a store's port that lets executions go on which wait for a limit.

`claim` enforces limits. It counts running executions and recent starts under a lock of each key, so
that no limit is ever exceeded. Where the limit is full, or executions of the key that go first are
parked, `claim` refuses the plan and parks the execution: `held_by` names the limit. With a full
limit it parks other due executions of the key too, so that workers do not read them in vain.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sempre.ports.messages import Reading, Waiting

__all__ = ["Limits", "Opened"]


@dataclass(frozen=True)
class Opened:
    """What became of executions that waited for limits.

    Attributes:
        freed: executions that wait for no limit any more.
        opens: when a rate allows the next start of executions that still wait, by key.
        last: the last key of this page; empty if no key follows.
    """

    freed: tuple[Waiting, ...] = ()
    opens: Mapping[str, datetime] = field(default_factory=dict)
    last: str = ""


class Limits(Protocol):
    """The operation of every store on executions that wait for limits."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        """Free parked executions of these keys, as many as there is room for, the first ones first.

        A freed execution is due now: the wait for a limit is not lateness. The order is priority,
        slot, id. An execution whose other limit is full is parked under that limit instead. Freeing
        too many is harmless, for `claim` decides again; none is left parked while there is room.
        Without keys, the next `limit` keys with parked executions after the key `after`, and some
        more of each: an execution that no worker wants must not keep others waiting.
        """
        ...
