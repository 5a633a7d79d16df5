"""A small HTTP endpoint: a few pages of text for monitoring, on one address.

It answers GET and HEAD, sends no list of its pages, and serves at most `AT_ONCE` requests at a
time; further connections wait in the backlog of the socket. A client that is silent is dropped.
"""

import logging
import socket
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import Any, NamedTuple

from sempre.errors import InvalidInput, printable

__all__ = ["Endpoint", "Page", "listen_on"]

logger = logging.getLogger("sempre")
AT_ONCE = 8
BACKLOG = 64
SILENT_SECONDS = 5.0


class Page(NamedTuple):
    """The answer to a request."""

    status: HTTPStatus
    text: str
    content_type: str = "text/plain; charset=utf-8"


Pages = Mapping[str, Callable[[], Page]]
"""By path, the function that writes a page."""


def listen_on(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Raises:
        InvalidInput: the address is in use, or is none of this host.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A restart must not wait until the connections of the process before are forgotten.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        reason = str(error.strerror or error).lower()
        allowed = f"a free address of this host ({reason})"
        raise InvalidInput("metrics", name, allowed=allowed) from None
    return listening


class Endpoint:
    """Serves pages on a listening socket, from `start` to `stop`."""

    def __init__(self, listening: socket.socket, pages: Pages) -> None:
        """Take a socket that listens; `stop` closes it."""
        self._server = _Server(listening, pages)
        self._thread = Thread(
            target=self._server.serve_forever, args=(0.1,), name="sempre-metrics", daemon=True
        )

    @property
    def url(self) -> str:
        """The address as a URL."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def start(self) -> None:
        """Serve in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Answer the requests under way, and close the socket; also before `start`."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, pages: Pages) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()
        self.pages = pages
        self._places = BoundedSemaphore(AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        self._places.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002 - as above
        # A client that went away is no error of this process.
        logger.debug("a request for metrics failed")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "sempre"
    sys_version = ""
    timeout = SILENT_SECONDS

    def _answer(self) -> None:
        write = self.server.pages.get(self.path.partition("?")[0])
        page = Page(HTTPStatus.NOT_FOUND, "not found\n") if write is None else _written(write)
        body = page.text.encode()
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # The base class looks its methods up by these names.
    do_GET = do_HEAD = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the base class
        logger.debug("metrics: %s", printable(format % args))


def _written(write: Callable[[], Page]) -> Page:
    """Return a page; an error of its writer becomes an answer without details, and a log line."""
    try:
        return write()
    except Exception:
        logger.exception("a page of the metrics endpoint cannot be written")
        return Page(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; see the log\n")
