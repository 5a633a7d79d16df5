"""Failures: which page or JSON object a visitor gets for each error."""

from sempre.domain.redaction import redacted_text
from sempre.errors import (
    Contended,
    InvalidInput,
    NotFound,
    Refused,
    SempreError,
    StoreError,
    StoreGone,
    StoreRefused,
    UnreadableRow,
    printable,
)
from sempre.web.answers import Explained
from sempre.web.roles import Role

__all__ = [
    "FOREIGN_FORM",
    "FOREIGN_HOST",
    "NOT_JSON",
    "NO_AUTH",
    "NO_BODY",
    "NO_METHOD",
    "NO_PAGE",
    "READ_ONLY",
    "TOO_LARGE",
    "TOO_MANY_FIELDS",
    "explained",
    "role_missing",
]

AGAIN = 5
NO_AUTH = Explained(
    403,
    "This dashboard is closed",
    "It was mounted without auth=, and a proxy can make every visitor look local.",
    "Say who may enter:",
    "from sempre.web import basic\n\n"
    'app.dashboard(auth=basic({"ann": ("admin", "scrypt$...")}))\n\n'
    "# the hash: sempre web hash\n# also: bearer(), proxy_header(), django_staff(), or a function\n"
    '# def auth(request): return "admin", "operator", "read" or "deny"',
)
NO_PAGE = Explained(
    404, "No such page", "There is nothing at this address.", "Start at the overview."
)
FOREIGN_FORM = Explained(
    403,
    "Refused: the form came from another site",
    "A change must come from a page of this dashboard. Nothing was changed.",
    "Open the dashboard in this window and try again. A proxy must pass Host and Origin unchanged.",
)
FOREIGN_HOST = Explained(
    421,
    "Refused: unknown host name",
    "The request names a host that this server does not serve, as DNS rebinding does.",
    "Use 127.0.0.1 or localhost, or allow the name:",
    "sempre web --allow-host NAME",
)
READ_ONLY = Explained(
    403,
    "This dashboard is read-only",
    "It was made with read_only=True. Nothing was changed.",
    "Use the command line, or a dashboard that allows changes.",
)
NOT_JSON = Explained(
    415,
    "Not JSON",
    "The body of a request to the API is a JSON object. Nothing was changed.",
    "Send the header Content-Type: application/json.",
)
NO_METHOD = Explained(
    405, "No such method", "The address has another method.", "See openapi.json of the API."
)
NO_BODY = Explained(400, "Not understood", "The body is not a JSON object.", field="body")
TOO_MANY_FIELDS = Explained(400, "Not understood", "The request has more than 2,000 fields.")
TOO_LARGE = Explained(413, "Too large", "The form is larger than 256 KiB. Nothing was changed.")


def role_missing(needed: Role, role: Role, actor: str) -> Explained:
    """Return the failure of a visitor whose role is too low."""
    who = f"{actor} has" if actor else "You have"
    return Explained(
        403,
        "Not allowed",
        f"{who} the role {role.word}; this needs {needed.word}. Nothing was changed.",
        "Ask the operator of this dashboard: auth= decides about roles.",
    )


def explained(error: SempreError) -> Explained:
    """Return the failure for an error of the store, or of what a visitor asked for."""
    text = printable(redacted_text(str(error)), keep="\n")
    if isinstance(error, NotFound):
        return Explained(404, f"No such {error.kind}", text, "It may have been deleted or purged.")
    if isinstance(error, Contended):
        remedy = "Open the page again to see the present state, then decide."
        return Explained(409, "Another change came first", text, remedy)
    if isinstance(error, Refused):
        return Explained(409, "Refused", text, "The present state does not allow this.")
    if isinstance(error, InvalidInput):
        remedy = printable(error.hint) or "Correct the value, and try again."
        return Explained(
            400,
            "Not understood",
            text,
            remedy,
            field=printable(error.field),
            allowed=printable(error.allowed),
        )
    return _of_store(error, text)


def _of_store(error: SempreError, text: str) -> Explained:
    if isinstance(error, StoreGone):
        message = "The store is not set up, or was emptied."
        remedy = "A worker sets it up when it starts; or run:"
        return Explained(
            503, "The store is not set up", message, remedy, "sempre db upgrade", AGAIN
        )
    if isinstance(error, StoreRefused | UnreadableRow):
        return Explained(503, "The store was refused", text, retry_after=AGAIN)
    if isinstance(error, StoreError):
        remedy = (
            "Nothing is lost: rows are kept in the store, and workers wait for it. "
            f"This page tries again every {AGAIN} seconds."
        )
        return Explained(503, "The store does not answer", text, remedy, "sempre db status", AGAIN)
    return Explained(500, "Something went wrong", text)
