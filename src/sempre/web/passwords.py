"""Passwords of the dashboard: scrypt hashes, compared in constant time."""

import base64
import hashlib
import hmac
import secrets

from sempre.errors import InvalidInput

__all__ = ["hash_password", "is_password"]

# 16 MiB and about 50 ms for each check: RFC 7914 for interactive logins.
COST, BLOCK, PARALLEL = 2**14, 8, 1
SALT = 16
FORM = "a hash that `sempre web hash` printed"


def hash_password(password: str) -> str:
    """Return the hash of a password for `basic()`: `scrypt$COST$SALT$HASH`.

    Raises:
        InvalidInput: the password is empty.
    """
    if not password:
        raise InvalidInput("password", "", allowed="a text that is not empty")
    salt = secrets.token_bytes(SALT)
    digest = _digest(password, salt, COST)
    return f"scrypt${COST}${_text(salt)}${_text(digest)}"


def is_password(password: str, hashed: str) -> bool:
    """Return whether a password has a hash.

    Raises:
        InvalidInput: the text is no hash of `hash_password`.
    """
    try:
        method, cost, salt, digest = hashed.split("$")
        known, number = _bytes(digest), int(cost)
    except ValueError:
        raise InvalidInput("password hash", "...", allowed=FORM) from None
    if method != "scrypt" or not 2 <= number <= 2**20:  # noqa: PLR2004 - 1 GiB at most
        raise InvalidInput("password hash", "...", allowed=FORM)
    return hmac.compare_digest(_digest(password, _bytes(salt), number), known)


def _digest(password: str, salt: bytes, cost: int) -> bytes:
    room = 132 * BLOCK * cost + 2**20
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=cost, r=BLOCK, p=PARALLEL, maxmem=room)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii"))
