"""Protection of the dashboard: headers, the origin of forms, host names, and where forms lead back.

Pure. There is no session and no token: a browser says by `Sec-Fetch-Site` or `Origin` where a form
comes from, and a page of another site cannot forge either.
"""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

__all__ = ["HEADERS", "is_allowed_host", "is_own_form", "local_path"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""No code or style inside pages, nothing from other servers, no frame around a page."""
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every answer."""
JSON = "application/json"


def is_own_form(headers: Mapping[str, str]) -> bool:
    """Return whether a POST comes from a page of the dashboard itself, or from no browser.

    A request without both headers comes from a program; it must send JSON, which no form of another
    site can send without asking first.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site == "same-origin"
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def is_allowed_host(host: str, allowed: Collection[str] | None) -> bool:
    """Return whether a Host header names this server; None allows every name.

    A page of another site whose name resolves to 127.0.0.1 sends the name of that site.
    """
    if allowed is None:
        return True
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in allowed


def local_path(text: str, otherwise: str) -> str:
    """Return a path of this server, as a form gave it, or another one: never another server."""
    parts = urlsplit(text.replace("\\", "/"))
    is_plain = text.startswith("/") and not text.replace("\\", "/").startswith("//")
    has_control = any(ord(each) < ord(" ") for each in text)
    return (
        text
        if is_plain and not has_control and not parts.scheme and not parts.netloc
        else otherwise
    )
