"""The metrics process: serves the metrics of all worker processes of one command on one address.

The supervisor forks the metrics process beside the workers and replaces it if it dies. A process of
its own answers although a job holds the interpreter of a worker, or workers crash again and again;
and the supervisor stays a process without threads and connections. The sockets are made before the
first fork: an address that is in use ends the command before any work begins.
"""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from sempre.addresses.listening import read_listening_address
from sempre.app.metrics.exporter import Exporter
from sempre.app.metrics.hand_over import Channel, Received, Sender
from sempre.app.metrics.pages import pages_of
from sempre.telemetry.exposition import check_installed
from sempre.telemetry.http_endpoint import Endpoint, listen_on

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.app.process.worker_threads import Running

__all__ = ["MetricsProcess"]

logger = logging.getLogger("sempre")
STOPS = (signal.SIGTERM, signal.SIGINT)


class MetricsProcess:
    """The sockets of a metrics process, and what each side does with them."""

    def __init__(self, app: "Sempre", address: str) -> None:
        """Listen on an address.

        Raises:
            InvalidInput: the address cannot be used.
            MissingExtra: `prometheus_client` is not installed.
        """
        check_installed()
        host, port = read_listening_address("metrics", address)
        self._app = app
        self._listening = listen_on(host, port)
        self._channel = Channel()

    def close(self) -> None:
        """Close the sockets of this process."""
        self._listening.close()
        self._channel.close()

    # In a worker process

    def enter_worker(self) -> None:
        """Count events in this worker process; keep only the end that sends counts."""
        self._listening.close()
        self._channel.receiving.close()
        self._app.process_metrics.count()

    @property
    def private(self) -> list[int]:
        """The descriptors of a worker process that no job may reach."""
        return [self._channel.sending.fileno()]

    @contextmanager
    def publishing(self, running: "Running") -> Iterator[None]:
        """Send the counts and the state of a worker inside a `with` block."""
        metrics = self._app.process_metrics
        sender = Sender(self._channel.sending, metrics.tally, metrics.watch(running))
        sender.start()
        try:
            yield
        finally:
            sender.stop()

    # In the metrics process

    def serve(self, parent_pipe: int) -> int:
        """Serve until SIGTERM, or until the supervisor is gone; SIGTERM is blocked by the caller.

        Args:
            parent_pipe: can be read once the supervisor has ended.
        """
        self._channel.sending.close()
        # The workers set the store up, not the process that watches them.
        self._app.composition.sets_up = False
        received = Received(self._app.clock)
        exporter = Exporter(self._app, received.tally, received.reports, owns_engine=True)
        endpoint = Endpoint(self._listening, pages_of(exporter))
        for target, argument in (
            (received.receive_from, self._channel.receiving),
            (_stop_with_parent, parent_pipe),
        ):
            Thread(target=target, args=(argument,), daemon=True).start()
        endpoint.start()
        logger.info("metrics of all worker processes are on %s/metrics", endpoint.url)
        signal.sigwait(STOPS)
        endpoint.stop()
        self._app.close()
        return 0


def _stop_with_parent(parent_pipe: int) -> None:
    os.read(parent_pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
