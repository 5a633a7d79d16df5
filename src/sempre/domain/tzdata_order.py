"""The order of tzdata versions: which of two rows was computed by newer time zones."""

from functools import lru_cache

__all__ = ["sortable_tzdata"]


@lru_cache(maxsize=64)
def sortable_tzdata(version: str) -> str:
    """Return a tzdata version as a text that sorts by age; parts that are no number do not count.

    A store keeps the text in an index, by which maintenance finds rows of older time zones.
    """
    parts = (int(part) for part in version.split(".") if part.isdigit())
    return "v" + ".".join(f"{part:010d}" for part in parts)
