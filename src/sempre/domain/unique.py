"""Unique work: at most one execution at a time per job and arguments."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sempre.domain.arguments import Json
from sempre.domain.policies import check_choice
from sempre.errors import PolicyError
from sempre.grids.intervals import read_duration

__all__ = ["Unique", "read_unique"]

Mode = Literal["live", "active"]
# Made once: a pair encodes many thousand keys.
_text_of = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
ALLOWED = 'True, the names of arguments, or Unique("name", mode="live") or Unique(within="1h")'


@dataclass(frozen=True, init=False)
class Unique:
    """Allows one execution at a time per job and arguments.

    >>> Unique("database_id").key("create_database", {"database_id": 7, "plan": "free"})
    'create_database:{"database_id":7}'

    Args:
        by: the names of the arguments to compare; without names, all arguments.
        mode: compare with executions that wait or run ("active", the default), or only with those
            that wait ("live"), so that one can wait while another runs.
        within: instead, compare with all executions created within this time, in any state.

    Raises:
        PolicyError: an unknown mode, or both a mode and a length of time.
        IntervalError: a length of time that cannot be read.
    """

    by: tuple[str, ...]
    mode: Literal["live", "active", "period"]
    period: timedelta

    def __init__(
        self,
        *by: str,
        mode: Mode | None = None,
        within: timedelta | float | str | None = None,
    ) -> None:
        """Check and normalise what the user wrote."""
        if mode is not None and within is not None:
            allowed = "either a mode or a length of time, not both"
            raise PolicyError("unique", mode, allowed=allowed)
        chosen = "active" if mode is None else check_choice("unique", mode, Mode)
        period = timedelta(0) if within is None else read_duration("unique within", within)
        object.__setattr__(self, "by", tuple(by))
        object.__setattr__(self, "mode", chosen if within is None else "period")
        object.__setattr__(self, "period", period)

    def key(self, job: str, args: Mapping[str, Json]) -> str:
        """Return the unique key as a text; a missing argument counts as null."""
        chosen = {name: args.get(name) for name in self.by} if self.by else args
        return f"{job}:{_text_of(chosen)}"


def read_unique(value: object) -> Unique | None:
    """Return the rule that a user wrote after `unique=`; None for None and False.

    Raises:
        PolicyError: the value is not one of the allowed forms.
    """
    if value is None or value is False:
        return None
    if isinstance(value, Unique):
        return value
    if value is True:
        return Unique()
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
        return Unique(*value)
    raise PolicyError("unique", value, allowed=ALLOWED)
