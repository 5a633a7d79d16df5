"""The dashboard as a WSGI application, for Flask and Django without ASGI; its pages poll."""

from typing import Any

from sempre.app.operator import Operator
from sempre.web.auth import Auth
from sempre.web.dashboard import make_dashboard
from sempre.web.visit import Options

__all__ = ["make_wsgi_dashboard"]


def make_wsgi_dashboard(operator: Operator, *, auth: Auth | None, options: Options) -> Any:  # noqa: ANN401 - any WSGI server's
    """Return the dashboard of an operator as a WSGI application.

    A stream would occupy one thread of the host for every open page, so pages poll.
    """
    from a2wsgi import ASGIMiddleware  # noqa: PLC0415 - only hosts without ASGI need it

    return ASGIMiddleware(make_dashboard(operator, auth=auth, options=options))  # type: ignore[arg-type]  # Starlette is one
