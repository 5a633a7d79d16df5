"""Addresses to listen on: HOST:PORT, with an IPv6 host in brackets."""

import re
from ipaddress import AddressValueError, IPv6Address

from sempre.errors import InvalidInput

__all__ = ["read_listening_address"]

ALLOWED = "HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464"
LAST_PORT = 65_535
_WRITTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[A-Za-z0-9.-]+)):(?P<port>[0-9]+)")


def read_listening_address(name: str, text: str) -> tuple[str, int]:
    """Return host and port of an address; port 0 lets the system choose one.

    The host is always named: an endpoint on every interface must be asked for, as 0.0.0.0.

    Raises:
        InvalidInput: the text is no such address.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None or int(found["port"][:6]) > LAST_PORT:
        raise InvalidInput(name, text, allowed=ALLOWED)
    if found["six"] is not None:
        try:
            IPv6Address(found["six"])
        except AddressValueError:
            raise InvalidInput(name, text, allowed=ALLOWED) from None
    return found["six"] or found["host"], int(found["port"])
