"""Publications: where the metrics of a worker can be read."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from sempre.addresses.listening import read_listening_address
from sempre.app.metrics.pages import pages_of
from sempre.telemetry.http_endpoint import Endpoint, listen_on

if TYPE_CHECKING:
    from sempre.app.metrics.process_metrics import ProcessMetrics
    from sempre.app.process.worker_threads import Running

__all__ = ["Publication", "ServedHere"]

logger = logging.getLogger("sempre")


class Publication(Protocol):
    """Where the metrics of a worker are published."""

    @property
    def private(self) -> Sequence[int]:
        """Descriptors of the publication that are kept from jobs."""
        ...

    def publishing(self, running: "Running") -> AbstractContextManager[None]:
        """Publish the metrics of a worker inside a `with` block."""
        ...


class ServedHere:
    """An endpoint in a thread of the worker's own process."""

    def __init__(self, metrics: "ProcessMetrics", address: str) -> None:
        """Listen on an address; the endpoint answers from `start` on.

        Raises:
            InvalidInput: the address cannot be used.
        """
        host, port = read_listening_address("metrics", address)
        self._metrics = metrics
        listening = listen_on(host, port)
        self.private = [listening.fileno()]
        self._endpoint = Endpoint(listening, pages_of(metrics.exporter))
        self.url = self._endpoint.url

    def start(self, running: "Running") -> None:
        """Serve the metrics of a worker."""
        self._metrics.watch(running)
        self._endpoint.start()
        logger.info("metrics of this process are on %s/metrics", self.url)

    def stop(self) -> None:
        """Serve no longer."""
        self._endpoint.stop()

    @contextmanager
    def publishing(self, running: "Running") -> Iterator[None]:
        """Serve the metrics of a worker inside a `with` block."""
        self.start(running)
        try:
            yield
        finally:
            self.stop()
