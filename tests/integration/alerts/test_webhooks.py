"""Webhooks against real servers: signatures, limits of time and size, redirects, TLS, addresses."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_address

import pytest

from sempre.alerts import DeliveryFailed, Webhook, verify
from sempre.alerts.network import is_reachable, read_networks
from sempre.clock import SystemClock
from sempre.domain.alerts.alert import Alert, Phase
from sempre.errors import InvalidInput
from tests.integration.alerts.receiver import Receiver, receiver
from tests.integration.tls.authority import Authority, authority

ALERT = Alert(id="failure:schedule:bill:1", phase=Phase.OPENED, name="bill", trouble="failure")
SECRET = "whsec-of-the-tests"  # noqa: S105 - of the tests


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture(scope="module")
def ours() -> Iterator[Authority]:
    with authority() as made:
        yield made


@pytest.fixture(scope="module")
def foreign() -> Iterator[Authority]:
    with authority() as made:
        yield made


def hook(url: str, **options: object) -> Webhook:
    return Webhook(url, **{"allow_private": True, "timeout": "2s", **options})  # type: ignore[arg-type]


def test_a_message_is_signed_json_that_the_receiver_can_verify(server: Receiver) -> None:
    answer = hook(server.url(), secret=SECRET).send(ALERT, delivery="d-1")

    [request] = server.requests
    now = SystemClock().now().timestamp()
    header = request.headers["sempre-signature"]
    assert answer == "answered 200"
    assert json.loads(request.body)["name"] == "bill"
    assert request.headers["sempre-delivery"] == "d-1"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert verify(request.body, SECRET, header, now=now)
    assert not verify(request.body + b" ", SECRET, header, now=now)
    assert not verify(request.body, "another", header, now=now)
    assert not verify(request.body, SECRET, header, now=now + 301)
    assert not verify(request.body, SECRET, header.replace("t=", "t=9"), now=now)


def test_a_secret_of_the_environment_is_read_when_it_is_needed(
    server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = hook(server.url(), secret_env="HOOK_SECRET")  # noqa: S106 - a name
    with pytest.raises(DeliveryFailed, match="HOOK_SECRET"):
        webhook.send(ALERT, delivery="d")
    monkeypatch.setenv("HOOK_SECRET", SECRET)

    webhook.send(ALERT, delivery="d")

    now = SystemClock().now().timestamp()
    [request] = server.requests
    assert verify(request.body, SECRET, request.headers["sempre-signature"], now=now)


def test_a_body_of_the_users_own_fits_other_services(server: Receiver) -> None:
    hook(server.url(), body=lambda alert: {"text": alert.title}).send(ALERT, delivery="d")

    assert json.loads(server.requests[0].body) == {"text": "bill is failing"}


def test_an_error_of_the_receiver_is_a_failure_and_the_next_try_may_succeed(
    server: Receiver,
) -> None:
    server.answer(500, b"out of\norder")
    webhook = hook(server.url())

    with pytest.raises(DeliveryFailed, match="answered 500: out of order"):
        webhook.send(ALERT, delivery="d")
    assert webhook.send(ALERT, delivery="d") == "answered 200"


def test_a_receiver_says_when_to_come_back(server: Receiver) -> None:
    server.answer(429, Retry_After="120")
    server.answer(503, Retry_After="9" * 9)
    server.answer(503, Retry_After="Wed, 18 Nov 2026 16:00:00 GMT")

    waits = []
    for _ in range(3):
        with pytest.raises(DeliveryFailed) as failed:
            hook(server.url()).send(ALERT, delivery="d")
        waits.append(failed.value.retry_after)

    assert waits == [timedelta(minutes=2), timedelta(hours=1), None]


@pytest.mark.parametrize("manner", ["hang", "drip", "flood"])
def test_a_receiver_that_takes_its_time_is_cut_off(server: Receiver, manner: str) -> None:
    getattr(server, manner)()
    clock = SystemClock()
    began = clock.elapsed()

    if manner == "flood":
        # The status is good, and the rest of the body is never read.
        assert hook(server.url()).send(ALERT, delivery="d") == "answered 200"
    else:
        with pytest.raises(DeliveryFailed, match="within 2 s"):
            hook(server.url()).send(ALERT, delivery="d")

    assert clock.elapsed() - began < 10


def test_a_receiver_that_is_down_is_a_failure() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(DeliveryFailed, match=r"127\.0\.0\.1 failed"):
        hook(f"http://127.0.0.1:{port}/").send(ALERT, delivery="d")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",  # noqa: S104 - not bound, but refused
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "[ff02::1]",
        "224.0.0.1",
    ],
)
def test_a_private_address_is_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(DeliveryFailed, match="private address"):
        Webhook(f"https://{host}/").send(ALERT, delivery="d")


def test_metadata_services_are_refused_unless_a_network_names_them() -> None:
    with pytest.raises(DeliveryFailed, match="private address"):
        hook("http://169.254.169.254/latest").send(ALERT, delivery="d")

    metadata = ip_address("169.254.169.254")
    assert is_reachable(metadata, read_networks("169.254.169.254/32"))
    assert not is_reachable(metadata, read_networks(["10.0.0.0/8", "0.0.0.0/0"]))


def test_only_allowed_networks_are_reached(server: Receiver) -> None:
    near = hook(server.url(), allow_private=["127.0.0.0/8"])
    far = hook(server.url(), allow_private="10.0.0.0/8")

    assert near.send(ALERT, delivery="d") == "answered 200"
    with pytest.raises(DeliveryFailed, match="private address"):
        far.send(ALERT, delivery="d")
    assert len(server.requests) == 1


def test_a_name_is_resolved_once_and_its_checked_address_is_the_one_connected_to(
    server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def counted(host: str, *args: object, **options: object) -> object:
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "127.9.9.9", *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", counted)

    assert hook(server.url(host="hooks.test")).send(ALERT, delivery="d") == "answered 200"
    assert asked == ["hooks.test"]
    assert server.requests[0].headers["host"] == f"hooks.test:{server.port}"


def test_a_redirect_that_keeps_the_message_is_followed(server: Receiver) -> None:
    server.answer(307, Location="/other")

    hook(server.url(), headers={"Authorization": "Bearer x"}).send(ALERT, delivery="d")

    assert [each.path for each in server.requests] == ["/hook", "/other"]
    assert server.requests[0].body == server.requests[1].body
    assert server.requests[1].headers["authorization"] == "Bearer x"


def test_a_redirect_to_another_host_gets_no_account(server: Receiver) -> None:
    server.answer(308, Location=server.url("/other", host="localhost"))

    hook(server.url(), headers={"Authorization": "Bearer x"}).send(ALERT, delivery="d")

    assert "authorization" not in server.requests[1].headers


@pytest.mark.parametrize(
    ("status", "location", "message"),
    [
        (307, "http://10.1.2.3/", "private address"),
        (307, "http://169.254.169.254/latest/meta-data", "private address"),
        (307, "file:///etc/passwd", "not allowed"),
        (307, "http://user:password@127.0.0.1/", "not allowed"),
        (302, "/other", "would drop the message"),
        (307, "", "more than 3 times"),
    ],
)
def test_a_redirect_that_leads_astray_is_refused(
    server: Receiver, status: int, location: str, message: str
) -> None:
    for _ in range(5):
        server.answer(status, Location=location)

    with pytest.raises(DeliveryFailed, match=message):
        hook(server.url(), allow_private=["127.0.0.0/8"]).send(ALERT, delivery="d")


def test_tls_is_verified_by_the_name_of_the_url(ours: Authority, foreign: Authority) -> None:
    with receiver(ours) as server:
        good = hook(server.url(host="localhost"), authority=str(ours.root))
        strange = hook(server.url(host="localhost"), authority=str(foreign.root))
        unknown = hook(server.url(host="localhost"))
        unnamed = hook(server.url(), authority=str(ours.root))

        assert good.send(ALERT, delivery="d") == "answered 200"
        for webhook in (strange, unknown, unnamed):
            with pytest.raises(DeliveryFailed, match="CERTIFICATE_VERIFY_FAILED"):
                webhook.send(ALERT, delivery="d")
        assert len(server.requests) == 1


def test_https_is_never_redirected_to_http(ours: Authority) -> None:
    with receiver(ours) as server:
        server.answer(307, Location="http://127.0.0.1:9/")

        with pytest.raises(DeliveryFailed, match="from https to http"):
            hook(server.url(host="localhost"), authority=str(ours.root)).send(ALERT, delivery="d")


def test_an_address_of_the_sixth_version_is_reached() -> None:
    with receiver(ipv6=True) as server:
        assert hook(server.url(host="[::1]")).send(ALERT, delivery="d") == "answered 200"
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/x",
        "ftp://hooks.example.com/x",
        "hooks.example.com",
        "https://",
        "https://[::1",
        "https://user:secret@hooks.example.com/",
        "https://hooks.example.com:99999/",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/\r\nX: y",
        7,
    ],
)
def test_a_url_that_is_no_https_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Webhook(url)

    assert "secret" not in str(refused.value)


def test_a_webhook_shows_neither_its_path_nor_its_secret() -> None:
    webhook = Webhook("https://hooks.example.com/services/T0/B1/xyz", secret=SECRET)

    assert repr(webhook) == "<Webhook webhook: https://hooks.example.com/..., signed>"
    assert SECRET not in repr(vars(webhook))
