"""A Prometheus of the tests' own, in a temporary folder and on loopback."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from urllib.parse import quote

import pytest

from sempre.testing.polling import eventually
from tools.servers import environment, locate

__all__ = ["Prometheus", "free_port", "get", "prometheus_server", "promtool"]

PATIENCE = 30.0


def free_port() -> int:
    """Return a port of loopback that was free a moment ago."""
    with create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def get(port: int, path: str) -> tuple[int, str]:
    """Ask a server on loopback; (0, reason) if it does not answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError as error:
        return 0, str(error)
    finally:
        connection.close()


class Prometheus:
    """A server that evaluates queries."""

    def __init__(self, port: int) -> None:
        self.port = port

    def query(self, expression: str) -> dict[tuple[tuple[str, str], ...], float]:
        """Return the values of an instant query, by their labels."""
        status, text = get(self.port, f"/api/v1/query?query={quote(expression)}")
        assert status == 200, text
        return {
            tuple(sorted(each["metric"].items())): float(each["value"][1])
            for each in json.loads(text)["data"]["result"]
        }

    def value(self, expression: str) -> float | None:
        """Return the one value of a query; None if there is none."""
        found = self.query(expression)
        assert len(found) <= 1, found
        return next(iter(found.values()), None)

    def firing(self) -> set[str]:
        """Return the names of alerts that fire or are about to."""
        status, text = get(self.port, "/api/v1/alerts")
        assert status == 200, text
        return {each["labels"]["alertname"] for each in json.loads(text)["data"]["alerts"]}


def promtool(
    folder: Path, *words: str, standard_input: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run promtool in a folder."""
    program = locate("promtool")
    if program is None:
        pytest.skip("promtool is not installed; run make servers")
    return subprocess.run(
        [str(program), *words],
        cwd=folder,
        env=environment(),
        input=standard_input,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def prometheus_server(folder: Path, config: Path) -> Iterator[Prometheus]:
    """Run a server with a configuration file."""
    program = locate("prometheus")
    if program is None:
        pytest.skip("prometheus is not installed; run make servers")
    port = free_port()
    words = [
        str(program),
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(words, env=environment(), stdout=log, stderr=log)
    try:
        eventually(
            lambda: process.poll() is not None or get(port, "/-/ready")[0] == 200,
            otherwise=(folder / "prometheus.log").read_text,
        )
        assert process.poll() is None, (folder / "prometheus.log").read_text()
        yield Prometheus(port)
    finally:
        process.terminate()
        process.wait(PATIENCE)
