"""Spread: numbers that look random and are equal in every process, for jitter in pure plans."""

from hashlib import blake2b

__all__ = ["spread"]


def spread(text: str, width: int) -> int:
    """Return a number from 0 to below `width`, decided by a text; every process returns it."""
    digest = blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % width
