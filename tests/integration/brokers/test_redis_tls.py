"""Redis behind TLS: what can be read from a socket is not yet what was said on it."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.brokers.redis import RedisBroker
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Broker, Message
from sempre.testing.contracts import broker as suite
from sempre.urls import open_broker
from tests.integration.redis.redis_server import redis_server

# Contracts in which the server sends of its own accord, or sends much at once.
RUN_AGAIN = (
    "test_a_wake_ends_every_wait",
    "test_a_wake_is_heard_once",
    "test_any_text_comes_as_it_was_put",
    "test_producers_and_consumers_do_not_lose_a_message",
    "test_ten_thousand_messages_are_one_call_and_each_comes_once",
    "test_waits_are_not_cut_short",
    "test_waking_while_messages_come_loses_none",
    "test_whoever_waits_is_told_of_a_new_message",
    "test_whoever_waits_is_told_of_a_shorter_delay",
)
globals().update({name: getattr(suite, name) for name in RUN_AGAIN})


def make_certificate(folder: Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed; it makes the certificate of the test")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    places = ["-keyout", "key.pem", "-out", "cert.pem"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = [program, *words, *places, *names]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("tls"), free_port()
    make_certificate(folder)
    with redis_server(
        appendonly="no",
        tls_port=str(port),
        tls_cert_file=str(folder / "cert.pem"),
        tls_key_file=str(folder / "key.pem"),
        tls_ca_cert_file=str(folder / "cert.pem"),
        tls_auth_clients="no",
    ):
        yield f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={folder}/cert.pem"


@pytest.fixture
def broker(url: str) -> Iterator[Broker]:
    opened = open_broker(url)
    yield opened
    opened.close()


def test_a_certificate_that_nobody_vouches_for_is_unavailable(url: str) -> None:
    broker = RedisBroker(url.partition("?")[0])

    with pytest.raises(BrokerUnavailable, match="certificate"):
        broker.put([Message("lane", "ring")])

    broker.close()
