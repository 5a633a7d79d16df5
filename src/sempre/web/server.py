"""The stand-alone dashboard: uvicorn on a loopback address, or anywhere with users."""

import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from sempre.app.dashboards import ServerOptions, make_dashboard
from sempre.app.operator import Operator
from sempre.errors import InvalidInput, Refused
from sempre.web.auth import Auth, basic
from sempre.web.roles import Identity, Role

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["ServerThread", "read_users", "serve"]

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
ENDS_WITHIN = 2


def serve(operator: Operator, options: ServerOptions, *, begun: Callable[[str], None]) -> None:
    """Serve a dashboard until SIGINT or SIGTERM.

    Raises:
        Refused: the address is no loopback address, and there are no users.
    """
    server, bound = _server(operator, options)
    begun(_url(bound, options))
    # uvicorn raises the signal again once it has stopped.
    with bound, suppress(KeyboardInterrupt):
        server.run([bound])


class ServerThread:
    """A dashboard that a thread of this process serves.

    Attributes:
        url: where the dashboard is.
    """

    def __init__(self, operator: Operator, options: ServerOptions) -> None:
        """Bind the address and start the thread."""
        self._server, self._socket = _server(operator, options)
        self.url = _url(self._socket, options)
        self._thread = Thread(target=self._run, name="sempre-dashboard", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._socket:
            self._server.run([self._socket])

    def stop(self) -> None:
        """End the thread; open pages lose their connection."""
        self._server.should_exit = True
        self._thread.join(2 * ENDS_WITHIN)


def read_users(path: Path) -> Auth:
    """Return the `auth` of a file with a line `NAME ROLE HASH` for each user.

    Raises:
        InvalidInput: the file cannot be read, or a line is malformed.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise InvalidInput("users", str(path), allowed="a file of text") from None
    words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    if not words or any(len(each) != 3 for each in words):  # noqa: PLR2004 - name, role, hash
        raise InvalidInput("users", str(path), allowed="lines NAME ROLE HASH")
    return basic({name: (role, hashed) for name, role, hashed in words})


def _server(operator: Operator, options: ServerOptions) -> tuple[uvicorn.Server, socket.socket]:
    if options.users is None and not _is_loopback(options.host):
        raise Refused(
            f"the dashboard at {options.host} would be open to everyone: name a file of users by "
            "--users (`sempre web hash` makes its hashes), or bind 127.0.0.1."
        )
    auth = read_users(options.users) if options.users else _anyone
    app = make_dashboard(
        operator,
        auth=auth,
        read_only=options.read_only,
        title=options.title,
        hosts=LOCAL | {options.host, *options.names},
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        # The peer is the peer: a header must not change the address that auth sees.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=ENDS_WITHIN,
        lifespan="off",
    )
    return uvicorn.Server(config), _bind(options.host, options.port)


def _anyone(_request: "Request") -> Identity:
    """Return the role of a visitor on a loopback address: the user of this host."""
    return Identity(Role.ADMIN)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a port, or at a free one if that port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in (port, 0):
        bound = socket.socket(family)
        # Not an address that is in use: only one that a dashboard before has just left.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, number))
            bound.listen(128)
        except OSError as error:
            bound.close()
            if number == 0:
                raise Refused(f"cannot bind {host}: {error.strerror}.") from error
        else:
            return bound
    raise Refused(f"cannot bind {host}.")


def _url(bound: socket.socket, options: ServerOptions) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{bound.getsockname()[1]}"
