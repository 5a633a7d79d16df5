"""Signatures of webhooks: HMAC-SHA256 over the time of sending and the body. Pure."""

import hmac
from hashlib import sha256

__all__ = ["HEADER", "TOLERANCE", "sign", "verify"]

HEADER = "Sempre-Signature"
TOLERANCE = 300
"""The seconds after which a receiver should refuse a signature, so that it cannot be replayed."""


def sign(body: bytes, secret: str, *, timestamp: int) -> str:
    """Return the value of the header `Sempre-Signature`.

    >>> sign(b"{}", "whsec", timestamp=1700000000)[:20]
    't=1700000000,v1=7d44'
    """
    return f"t={timestamp},v1={_digest(body, secret, timestamp)}"


def verify(
    body: bytes, secret: str, header: str, *, now: float, tolerance: float = TOLERANCE
) -> bool:
    """Return whether a header is a signature of a body that was sent not long ago.

    Args:
        body: as it came, before any decoding.
        secret: that the sender and the receiver share.
        header: the value of `Sempre-Signature`.
        now: the time of the receiver, in seconds since 1970.
        tolerance: the largest difference between both clocks, in seconds.
    """
    parts = [part.partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name.strip() == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdigit()) or len(times[0]) > 18:  # noqa: PLR2004 - digits
        return False
    timestamp = int(times[0])
    wanted = _digest(body, secret, timestamp).encode()
    given = [value.encode() for name, _, value in parts if name.strip() == "v1"]
    is_signed = any(hmac.compare_digest(wanted, each) for each in given)
    return is_signed and abs(now - timestamp) <= tolerance


def _digest(body: bytes, secret: str, timestamp: int) -> str:
    return hmac.new(secret.encode(), b"%d." % timestamp + body, sha256).hexdigest()
