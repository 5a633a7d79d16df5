"""Ready-made `auth=` functions of a dashboard: who a visitor is, and what the visitor may do.

An `auth` gets a Starlette request and returns "admin", "operator", "read" or "deny", or a pair of
the role and a name for the log of actions. It may be async. A class with an attribute `challenge`
lets a browser ask for a password when the role is "deny".
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import import_module
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

from sempre.errors import InvalidInput
from sempre.web.passwords import hash_password, is_password
from sempre.web.roles import Identity, Role, read_identity

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = [
    "Auth",
    "Basic",
    "Bearer",
    "ProxyHeader",
    "basic",
    "bearer",
    "django_staff",
    "proxy_header",
]

Auth = Callable[["Request"], object | Awaitable[object]]
DENIED = Identity(Role.DENY)


def basic(users: Mapping[str, tuple[str, str]]) -> "Basic":
    """Return an `auth` that asks for a name and a password.

        auth=basic({"ann": ("admin", "scrypt$16384$...")})

    Args:
        users: by name, the role and the hash of `sempre web hash`.
    """
    return Basic(users)


def bearer(tokens: Mapping[str, tuple[str, str]]) -> "Bearer":
    """Return an `auth` for programs: `Authorization: Bearer TOKEN`.

    Args:
        tokens: by the name for the log of actions, the role and the token.
    """
    return Bearer(tokens)


def proxy_header(
    *, trusted: Iterable[str], roles: Mapping[str, str], header: str = "X-Remote-User"
) -> "ProxyHeader":
    """Return an `auth` that believes the user name of a proxy which has checked the password.

    Args:
        trusted: addresses or networks of the proxy; the header of any other peer is ignored.
        roles: by user name; the name `*` stands for every other user.
        header: the header with the user name, which the proxy must overwrite.
    """
    return ProxyHeader(trusted, roles, header)


def django_staff() -> Auth:
    """Return an `auth` by Django's session: superusers are admin, staff are operator."""
    return _django_user


class Basic:
    """HTTP Basic authentication by scrypt hashes.

    A check costs about 50 ms, so a credential that was accepted is remembered by a keyed digest.
    """

    challenge = 'Basic realm="Sempre", charset="UTF-8"'

    def __init__(self, users: Mapping[str, tuple[str, str]]) -> None:
        """Take the users; InvalidInput if a role or hash is malformed."""
        self._users = {
            name: (read_identity((role, name)), hashed) for name, (role, hashed) in users.items()
        }
        for _, hashed in self._users.values():
            is_password("", hashed)
        self._key = secrets.token_bytes(32)
        self._accepted: dict[str, bytes] = {}
        # Checked for unknown names, so that the time of an answer does not tell which names exist.
        self._decoy = hash_password(secrets.token_urlsafe())

    def __call__(self, request: "Request") -> Identity:
        """Return the identity of the visitor."""
        name, password = _credentials(request.headers.get("authorization", ""))
        identity, hashed = self._users.get(name, (DENIED, self._decoy))
        digest = hmac.digest(self._key, f"{name}\0{password}".encode("utf-8", "replace"), "sha256")
        if hmac.compare_digest(self._accepted.get(name, b""), digest):
            return identity
        if not is_password(password, hashed) or identity.role is Role.DENY:
            return DENIED
        self._accepted[name] = digest
        return identity


class Bearer:
    """Bearer tokens, compared by their digests in constant time."""

    challenge = 'Bearer realm="Sempre"'

    def __init__(self, tokens: Mapping[str, tuple[str, str]]) -> None:
        """Take the tokens; InvalidInput for a token that can be guessed."""
        for name, (_, token) in tokens.items():
            if len(token) < 20:  # noqa: PLR2004 - about 100 random bits
                allowed = f"at least 20 characters for {name}, such as secrets.token_urlsafe()"
                raise InvalidInput("token", "...", allowed=allowed)
        self._known = [
            (_sha256(token), read_identity((role, name))) for name, (role, token) in tokens.items()
        ]

    def __call__(self, request: "Request") -> Identity:
        """Return the identity of the token."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        given = _sha256(token if kind.lower() == "bearer" else "")
        found = [who for known, who in self._known if hmac.compare_digest(known, given)]
        return found[0] if found else DENIED


class ProxyHeader:
    """The user name of a trusted proxy."""

    def __init__(self, trusted: Iterable[str], roles: Mapping[str, str], header: str) -> None:
        """Take the addresses of the proxy and the roles of its users."""
        self._networks = [ip_network(each) for each in trusted]
        self._roles = {name: read_identity(role).role for name, role in roles.items()}
        self._header = header

    def __call__(self, request: "Request") -> Identity:
        """Return the identity of the header, if a trusted peer sent it."""
        values = request.headers.getlist(self._header)
        if not self._is_trusted(request.client.host if request.client else "") or len(values) != 1:
            return DENIED
        name = values[0].strip()
        role = self._roles.get(name, self._roles.get("*", Role.DENY)) if name else Role.DENY
        return Identity(role, name)

    def _is_trusted(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def _django_user(request: "Request") -> Identity:
    """Return the identity of Django's session; called in a thread, for it reads the database."""
    settings: Any = import_module("django.conf").settings
    django_request: Any = import_module("django.http").HttpRequest()
    key = request.cookies.get(settings.SESSION_COOKIE_NAME)
    django_request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user: Any = import_module("django.contrib.auth").get_user(django_request)
    name = str(user.get_username())
    if not user.is_active or not (user.is_staff or user.is_superuser):
        return Identity(Role.DENY, name)
    return Identity(Role.ADMIN if user.is_superuser else Role.OPERATOR, name)


def _credentials(header: str) -> tuple[str, str]:
    kind, _, value = header.partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return "", ""
    name, _, password = text.partition(":")
    return name, password


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
