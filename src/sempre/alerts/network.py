"""Addresses that a channel may connect to: a name is resolved once, and every address is checked.

A URL of a channel may come from a settings file or a form, and a DNS name may point anywhere. So a
name is resolved once, each resolved address is checked, and the connection goes to a checked
address: a second answer of the DNS server cannot lead elsewhere. Forms such as 2130706433,
0x7f.0.0.1, ::ffff:127.0.0.1 and 64:ff9b::7f00:1 end as the address that they mean.
"""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

from sempre.alerts.channel import DeliveryFailed
from sempre.errors import PolicyError

__all__ = ["Allowed", "Networks", "Target", "is_reachable", "read_networks", "resolve"]

Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]
Allowed = bool | str | Sequence[str]
"""Which private addresses may be reached: False, True, or networks such as "10.1.0.0/16"."""

EVERYWHERE: Networks = (ip_network("0.0.0.0/0"), ip_network("::/0"))
# Addresses of cloud metadata services: only a network that names them opens them.
LINK_LOCAL: Networks = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"))
METADATA = (ip_address("fd00:ec2::254"), ip_address("100.100.100.200"))
# NAT64: the last 32 bits are the IPv4 address that is reached.
NAT64: Networks = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))


class Target(NamedTuple):
    """A checked address to connect to."""

    family: int
    address: str
    sockaddr: Any


def read_networks(value: Allowed) -> Networks:
    """Return the private networks that a user allows.

    Raises:
        PolicyError: a text is no network.
    """
    if isinstance(value, bool):
        return EVERYWHERE if value else ()
    given = [value] if isinstance(value, str) else list(value)
    try:
        return tuple(ip_network(each) for each in given)
    except ValueError:
        allowed = 'True, or networks such as "10.1.0.0/16"'
        raise PolicyError("allow_private", value, allowed=allowed) from None


def is_reachable(address: Address, allowed: Networks) -> bool:
    """Return whether a channel may connect to an address: a public one, or one that is allowed."""
    plain = _embedded(address)
    is_internal = any(plain in each for each in LINK_LOCAL) or plain in METADATA
    if is_internal:
        return any(plain in each for each in allowed if each not in EVERYWHERE)
    if plain.is_global and not plain.is_multicast:
        return True
    return any(plain in each for each in allowed)


def resolve(host: str, port: int, *, allowed: Networks, timeout: float) -> list[Target]:
    """Resolve a name once, and return its addresses; each of them may be connected to.

    Raises:
        DeliveryFailed: the name has no address, one of its addresses is private, or the DNS server
            does not answer in time.
    """
    targets = []
    for family, _, _, _, sockaddr in _looked_up(host, port, timeout):
        if family not in (socket.AF_INET, socket.AF_INET6):
            continue
        address = str(sockaddr[0])
        if not is_reachable(ip_address(address.partition("%")[0]), allowed):
            where = f"{host} has" if address != host else "the URL has"
            message = f"{where} the private address {address}, which is not allowed"
            raise DeliveryFailed(f"{message}; pass allow_private= if it is meant.")
        targets.append(Target(family, address, sockaddr))
    if not targets:
        raise DeliveryFailed(f"{host} has no address.")
    return targets


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    number = int(address)
    is_compatible = number >> 32 == 0 and number > 1
    if is_compatible or any(address in each for each in NAT64):
        return IPv4Address(number & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


def _looked_up(host: str, port: int, timeout: float) -> list[Any]:
    """Ask the resolver in a thread of its own: the resolver of the system knows no time limit."""
    answers: list[list[Any]] = []
    errors: list[OSError | UnicodeError] = []

    def look_up() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            errors.append(error)

    thread = threading.Thread(target=look_up, name="sempre-resolver", daemon=True)
    thread.start()
    thread.join(timeout)
    with suppress(IndexError):
        return answers[0]
    if errors:
        raise DeliveryFailed(f"{host} cannot be resolved: {errors[0]}.") from errors[0]
    raise DeliveryFailed(f"{host} was not resolved within {timeout:.0f} s.")
