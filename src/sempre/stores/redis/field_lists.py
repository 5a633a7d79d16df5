"""The lists of fields in Lua scripts, derived from the tables of columns."""

import re
from collections.abc import Sequence

from sempre.stores.redis.encoding import EXECUTION_FIELDS, SCHEDULE_FIELDS

__all__ = ["with_field_lists"]

_LISTS = {"execution": EXECUTION_FIELDS, "schedule": SCHEDULE_FIELDS}
_PLACE = re.compile(r"--\[\[(\w+)\]\]")


def with_field_lists(script: str) -> str:
    """Replace each `--[[noun]]` of a script by a list of fields and a table of their places."""
    return _PLACE.sub(lambda found: _written(_LISTS[found[1]]), script)


def _written(names: Sequence[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    places = ", ".join(f"{name} = {place}" for place, name in enumerate(names, start=1))
    return f"{{ {listed} }}, {{ {places} }}"
