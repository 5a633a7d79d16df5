"""The address of a PostgreSQL database: what is shown of it, its options, and the encoding."""

from itertools import cycle

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sempre.errors import StoreRefused

__all__ = ["ENCODING", "describe", "driver_options"]

ENCODING = "UTF8"
"""The encoding of every connection and of the database: others lack most characters."""


def describe(conninfo: str) -> str:
    """Return the hosts, each with its port, and the database of an address.

    Raises:
        StoreRefused: the address cannot be read. Nothing of it is in the message.
    """
    try:
        known = conninfo_to_dict(conninfo)
    except psycopg.Error:
        message = "the address of the PostgreSQL database cannot be read; check its spelling."
        raise StoreRefused(message) from None
    hosts = str(known.get("host") or known.get("hostaddr") or "localhost").split(",")
    ports = str(known.get("port") or 5432).split(",")
    # One port is the port of every host.
    places = (f"{host}:{port or 5432}" for host, port in zip(hosts, cycle(ports), strict=False))
    return f"PostgreSQL at {','.join(places)}/{known.get('dbname', '')}"


def driver_options() -> tuple[str, ...]:
    """Return the options of a URL that the driver knows, those of accounts and TLS first."""
    first = ("user", "password", "host", "port", "sslmode", "sslrootcert", "connect_timeout")
    known = [each.keyword.decode() for each in psycopg.pq.Conninfo.get_defaults()]
    return (*first, *sorted({*known} - {*first}))
