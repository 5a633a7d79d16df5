"""Dashboards of an operator: made by `sempre.web`, which is imported only then."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sempre.errors import MissingExtra

if TYPE_CHECKING:
    from sempre.app.operator import Operator

__all__ = [
    "ASGIApplication",
    "Auth",
    "DashboardThread",
    "ServerOptions",
    "WSGIApplication",
    "hashed_password",
    "make_dashboard",
    "make_wsgi_dashboard",
    "serve_dashboard",
    "thread_of_dashboard",
]

Auth = Callable[[Any], object]
ASGIApplication = Callable[..., Any]
WSGIApplication = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How a stand-alone dashboard is served.

    Attributes:
        users: a file with a line `NAME ROLE HASH` for each user; None for loopback without users.
        names: further host names that requests may use.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    users: Path | None = None
    names: tuple[str, ...] = ()
    read_only: bool = False
    title: str = ""


class DashboardThread(Protocol):
    """A dashboard that is served by a thread of this process."""

    url: str

    def stop(self) -> None:
        """End the thread; open pages lose their connection."""
        ...


def make_dashboard(
    operator: "Operator",
    *,
    auth: Auth | None,
    read_only: bool = False,
    title: str = "",
    hosts: frozenset[str] | None = None,
) -> ASGIApplication:
    """Return the dashboard as an ASGI application; `hosts` are the host names it answers to.

    Raises:
        MissingExtra: the extra `web` is not installed.
    """
    try:
        from sempre.web.dashboard import make_dashboard as make  # noqa: PLC0415 - an extra
        from sempre.web.visit import Options  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    options = Options(title=title, read_only=read_only, hosts=hosts)
    return make(operator, auth=auth, options=options)


def make_wsgi_dashboard(
    operator: "Operator", *, auth: Auth | None, read_only: bool = False, title: str = ""
) -> WSGIApplication:
    """Return the dashboard as a WSGI application.

    Raises:
        MissingExtra: the extra `web` is not installed.
    """
    try:
        from sempre.web.visit import Options  # noqa: PLC0415 - an extra
        from sempre.web.wsgi import make_wsgi_dashboard as make  # noqa: PLC0415 - as above

        options = Options(title=title, read_only=read_only, streams=False)
        made: WSGIApplication = make(operator, auth=auth, options=options)
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    return made


def serve_dashboard(
    operator: "Operator", options: ServerOptions, *, begun: Callable[[str], None]
) -> None:
    """Serve a dashboard until SIGINT or SIGTERM; `begun` gets its URL.

    Raises:
        Refused: the address is no loopback address, and there are no users.
        MissingExtra: the extra `web` is not installed.
    """
    _server().serve(operator, options, begun=begun)


def thread_of_dashboard(operator: "Operator", options: ServerOptions) -> DashboardThread:
    """Serve a dashboard by a thread of this process, and return the thread.

    Raises:
        MissingExtra: the extra `web` is not installed.
    """
    thread: DashboardThread = _server().ServerThread(operator, options)
    return thread


def hashed_password(password: str) -> str:
    """Return the scrypt hash of a password."""
    from sempre.web.passwords import hash_password  # noqa: PLC0415 - as everything of the dashboard

    return hash_password(password)


def _server() -> Any:  # noqa: ANN401 - a module
    try:
        from sempre.web import server  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    return server


def _missing(error: ModuleNotFoundError) -> Exception:
    """Return the error for a package of the extra; without a module of our own, a defect."""
    package = (error.name or "").partition(".")[0]
    return error if package in ("", "sempre") else MissingExtra(package, extra="web")
