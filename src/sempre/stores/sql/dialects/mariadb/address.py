"""The address of a MariaDB database: what the driver needs, and what may be shown."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sempre.errors import StoreRefused

__all__ = ["read_address"]

_SCHEMES = ("mariadb", "mysql")
_OPTIONS = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")


def read_address(url: str) -> tuple[str, dict[str, Any]]:
    """Return the address of a database without its password, and the options of the driver.

    Raises:
        StoreRefused: the address cannot be read. The message repeats no part of it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 3306
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        parts, port, options = urlsplit(""), 0, {}
    database = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in _SCHEMES or not database or not options.keys() <= set(_OPTIONS):
        raise StoreRefused(
            "the address of the MariaDB database cannot be read; it is spelt "
            "mariadb://host:3306/database, with user:password@ before the host, and after a ? come "
            f"{', '.join(_OPTIONS)}."
        )
    host = parts.hostname or "localhost"
    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": database,
        **options,
    }
    if options.keys() == {"unix_socket"}:
        # A socket of this host needs no TLS, and the driver would read every certificate each time.
        given["ssl_disabled"] = True
    if "ssl_ca" in options:
        # By default the driver accepts any certificate, and any name in it.
        given |= {"ssl_verify_cert": True, "ssl_verify_identity": True}
    return (
        f"MariaDB at {options.get('unix_socket', f'{host}:{port}')}/{database}",
        given,
    )
