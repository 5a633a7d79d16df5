import base64

import pytest
from starlette.requests import Request

from sempre.errors import InvalidInput, PolicyError
from sempre.web import basic, bearer, hash_password, proxy_header
from sempre.web.passwords import is_password
from sempre.web.roles import Identity, Role, read_identity

HASH = hash_password("right")
TOKEN = "a-token-that-nobody-can-guess"  # noqa: S105 - of this test


def request(*, client: str = "10.0.0.7", **headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": raw}
    return Request({**scope, "client": (client, 1)})


def signed(name: str, password: str) -> Request:
    return request(
        authorization=f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"
    )


def test_a_password_is_known_by_its_hash_alone() -> None:
    assert is_password("right", HASH)
    assert not is_password("wrong", HASH)
    assert hash_password("right") != HASH


@pytest.mark.parametrize(
    "hashed", ["", "right", "md5$1$a$b", "scrypt$x$AAAA$AAAA", "scrypt$0$AA==$AA=="]
)
def test_a_malformed_hash_is_refused_when_the_dashboard_is_made(hashed: str) -> None:
    with pytest.raises(InvalidInput):
        basic({"ann": ("admin", hashed)})


def test_basic_knows_users_by_name_and_password() -> None:
    auth = basic({"ann": ("admin", HASH), "bob": ("read", HASH)})

    assert auth(signed("ann", "right")) == Identity(Role.ADMIN, "ann")
    assert auth(signed("ann", "right")) == Identity(Role.ADMIN, "ann")
    assert auth(signed("bob", "right")) == Identity(Role.READ, "bob")
    assert auth(signed("ann", "wrong")).role is Role.DENY
    assert auth(signed("eve", "right")).role is Role.DENY
    assert auth(request()).role is Role.DENY
    assert auth(request(authorization="Basic %%%")).role is Role.DENY


def test_an_accepted_password_of_one_user_is_not_that_of_another() -> None:
    auth = basic({"ann": ("admin", HASH), "bob": ("read", hash_password("other"))})

    auth(signed("ann", "right"))

    assert auth(signed("bob", "right")).role is Role.DENY


def test_bearer_knows_programs_by_their_token() -> None:
    auth = bearer({"ci": ("operator", TOKEN)})

    assert auth(request(authorization=f"Bearer {TOKEN}")) == Identity(Role.OPERATOR, "ci")
    assert auth(request(authorization=f"Bearer {TOKEN}x")).role is Role.DENY
    assert auth(request(authorization=f"Basic {TOKEN}")).role is Role.DENY
    assert auth(request()).role is Role.DENY


def test_a_token_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="20 characters"):
        bearer({"ci": ("read", "secret")})


def test_a_proxy_header_counts_from_trusted_addresses_only() -> None:
    auth = proxy_header(trusted=["10.0.0.0/24"], roles={"ann": "admin", "*": "read"})

    assert auth(request(x_remote_user="ann")) == Identity(Role.ADMIN, "ann")
    assert auth(request(x_remote_user="bob")) == Identity(Role.READ, "bob")
    assert auth(request(client="10.0.1.7", x_remote_user="ann")).role is Role.DENY
    assert auth(request()).role is Role.DENY


def test_a_proxy_header_that_came_twice_counts_for_nothing() -> None:
    auth = proxy_header(trusted=["10.0.0.7"], roles={"ann": "admin"})
    doubled = request(x_remote_user="ann")
    doubled.scope["headers"].append((b"x-remote-user", b"eve"))

    assert auth(doubled).role is Role.DENY


@pytest.mark.parametrize("given", ["root", None, True, 3, ("admin",), ("admin", "ann", 1)])
def test_an_unknown_role_opens_nothing(given: object) -> None:
    with pytest.raises(PolicyError):
        read_identity(given)


def test_a_role_may_come_with_a_name() -> None:
    assert read_identity("read") == Identity(Role.READ)
    assert read_identity(("operator", "ann")) == Identity(Role.OPERATOR, "ann")
