"""The endpoint of metrics: three pages on one address, and nothing else."""

import socket
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from threading import Event, Thread

import pytest

from sempre.errors import InvalidInput
from sempre.telemetry.http_endpoint import AT_ONCE, Endpoint, Page, listen_on

Ask = Callable[..., tuple[int, str]]


def broken() -> Page:
    raise RuntimeError("a secret")


@pytest.fixture
def gate() -> Event:
    return Event()


@pytest.fixture
def endpoint(gate: Event) -> Iterator[Endpoint]:
    def slow() -> Page:
        gate.wait(30.0)
        return Page(HTTPStatus.OK, "slow\n")

    pages = {"/healthz": lambda: Page(HTTPStatus.OK, "alive\n"), "/broken": broken, "/slow": slow}
    found = Endpoint(listen_on("127.0.0.1", 0), pages)
    found.start()
    yield found
    gate.set()
    found.stop()


@pytest.fixture
def ask(endpoint: Endpoint) -> Ask:
    host = endpoint.url.removeprefix("http://")

    def asking(path: str, method: str = "GET") -> tuple[int, str]:
        connection = HTTPConnection(host, timeout=30.0)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    return asking


def test_a_page_is_served_with_or_without_a_query(ask: Ask) -> None:
    assert ask("/healthz") == (200, "alive\n")
    assert ask("/healthz?verbose=1") == (200, "alive\n")
    assert ask("/healthz", "HEAD") == (200, "")


@pytest.mark.parametrize("path", ["/", "/metrics/../healthz", "/etc/passwd"])
def test_every_other_path_is_not_found(ask: Ask, path: str) -> None:
    assert ask(path) == (404, "not found\n")


def test_other_methods_are_refused(ask: Ask) -> None:
    assert ask("/healthz", "POST")[0] == 501


def test_an_error_of_a_page_is_answered_without_details(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    assert ask("/broken") == (500, "internal error; see the log\n")
    assert "a secret" in caplog.text


def test_many_slow_requests_are_all_answered(ask: Ask, gate: Event) -> None:
    answers: list[tuple[int, str]] = []
    threads = [Thread(target=lambda: answers.append(ask("/slow"))) for _ in range(2 * AT_ONCE)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()

    assert answers == [(200, "slow\n")] * 2 * AT_ONCE


def test_an_address_in_use_is_refused_with_its_name(endpoint: Endpoint) -> None:
    port = int(endpoint.url.rpartition(":")[2])

    with pytest.raises(InvalidInput, match=rf"127\.0\.0\.1:{port}.*already in use"):
        listen_on("127.0.0.1", port)


def test_an_address_of_another_host_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"192\.0\.2\.1:1234"):
        listen_on("192.0.2.1", 1234)


def test_an_endpoint_listens_on_its_own_address_only(endpoint: Endpoint) -> None:
    port = int(endpoint.url.rpartition(":")[2])

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5.0)


def test_an_endpoint_that_never_started_can_be_stopped() -> None:
    listening = listen_on("127.0.0.1", 0)

    Endpoint(listening, {}).stop()

    assert listening.fileno() == -1
