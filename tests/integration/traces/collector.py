"""A collector of spans: an HTTP server on loopback that decodes what OTLP exporters send."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

__all__ = ["Collector", "Received", "collector"]


@dataclass(frozen=True)
class Received:
    """A span as it arrived, with the id of the process that exported it."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    status: int
    attributes: dict[str, Any]
    links: tuple[str, ...]
    pid: int


class Collector:
    """The spans that have arrived.

    Attributes:
        url: where exporters send traces.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = Lock()
        self._spans: list[Received] = []

    def receive(self, body: bytes) -> None:
        """Decode and keep an export."""
        request = ExportTraceServiceRequest.FromString(body)
        found = [
            _received(span, _attributes(resource.resource.attributes))
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        with self._lock:
            self._spans += found

    @property
    def spans(self) -> list[Received]:
        """Every span that has arrived."""
        with self._lock:
            return [*self._spans]

    def named(self, name: str) -> list[Received]:
        """Return the spans of a name."""
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Received:
        """Return the only span of a name."""
        [span] = self.named(name)
        return span


def _received(span: Any, resource: dict[str, Any]) -> Received:  # noqa: ANN401 - of protobuf
    return Received(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.kind,
        span.status.code,
        _attributes(span.attributes),
        tuple(link.span_id.hex() for link in span.links),
        resource["test.pid"],
    )


def _attributes(pairs: Any) -> dict[str, Any]:  # noqa: ANN401 - of protobuf
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def collector() -> Iterator[Collector]:
    """Run a collector on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            found.receive(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - of the base
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Collector(f"http://127.0.0.1:{server.server_port}/v1/traces")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
