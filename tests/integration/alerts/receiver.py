"""A real HTTP server on loopback that answers as a test tells it to."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from tests.integration.tls.authority import Authority

__all__ = ["Receiver", "Request", "receiver"]


@dataclass
class Request:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Receiver:
    """A running server.

    Attributes:
        answers: how the next requests are answered; then 200.
        released: ends the answers that hang.
    """

    port: int
    scheme: str = "http"
    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    released: Event = field(default_factory=Event)

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer one request with a status, headers and a body."""

        def send(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.answers.append(send)

    def hang(self) -> None:
        """Answer one request not at all, until the test is over."""
        self.answers.append(lambda _: (self.released.wait(), None)[1])

    def drip(self) -> None:
        """Answer one request with a byte now and then, for ever."""

        def send(handler: BaseHTTPRequestHandler) -> None:
            with suppress(OSError):
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
                while not self.released.wait(0.1):
                    handler.wfile.write(b"x")
                    handler.wfile.flush()

        self.answers.append(send)

    def flood(self) -> None:
        """Answer one request with a body without an end."""

        def send(handler: BaseHTTPRequestHandler) -> None:
            with suppress(OSError):
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                while not self.released.is_set():
                    handler.wfile.write(b"x" * 65_536)

        self.answers.append(send)


@contextmanager
def receiver(authority: Authority | None = None, *, ipv6: bool = False) -> Iterator[Receiver]:
    """Run a server on loopback, with TLS if an authority vouches for it."""
    known: list[Receiver] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            here = known[0]
            size = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(size)
            here.requests.append(Request(self.command, self.path, headers, body))
            if not here.answers:
                here.answer(200, b"thanks")
            here.answers.pop(0)(self)

        do_GET = do_POST  # noqa: N815 - as its base calls it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base
            pass

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ipv6 else socket.AF_INET
        daemon_threads = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is no error here."""

    server = Server(("::1" if ipv6 else "127.0.0.1", 0), Handler)
    here = Receiver(server.server_port, "https" if authority else "http")
    known.append(here)
    if authority:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.certificate, authority.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield here
    finally:
        here.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
