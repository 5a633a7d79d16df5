"""Dashboards of an operator: made by `sempre.web`, which is imported only then."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sempre.errors import MissingExtra

if TYPE_CHECKING:
    from sempre.app.operator import Operator

__all__ = ["ASGIApplication", "Auth", "WSGIApplication", "make_dashboard", "make_wsgi_dashboard"]

Auth = Callable[[Any], object]
ASGIApplication = Callable[..., Any]
WSGIApplication = Callable[..., Any]


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


def _missing(error: ModuleNotFoundError) -> Exception:
    """Return the error for a package of the extra; without a module of our own, a defect."""
    package = (error.name or "").partition(".")[0]
    return error if package in ("", "sempre") else MissingExtra(package, extra="web")
