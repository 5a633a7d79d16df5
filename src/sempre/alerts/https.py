"""A small HTTP client for alerts: one request with limits of time and size, to checked addresses.

The connection goes to the address that was checked, with the name of the URL for TLS and in the
header Host. A redirect is a new request: its address is resolved and checked again, and it never
leads from https to http. Proxies of the environment are not used: a proxy would resolve the name
anew.
"""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Timer
from urllib.parse import SplitResult, urljoin, urlsplit

from sempre.alerts.channel import DeliveryFailed
from sempre.alerts.network import Networks, Target, resolve
from sempre.clock import Clock, SystemClock
from sempre.errors import PolicyError

__all__ = ["Answer", "Request", "check_url", "masked_url", "request"]

LARGEST_ANSWER = 65_536
MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
KEEP_BODY = frozenset({307, 308})
PORTS = {"http": 80, "https": 443}
LONGEST_RETRY_AFTER = 3600
OK = range(200, 300)
# Headers that belong to the first host alone.
OWN = frozenset({"authorization", "cookie"})


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request.

    Attributes:
        timeout: seconds for all of it: resolving, connecting, TLS, sending, redirects, the answer.
        allowed: the private networks that may be reached.
        authority: a file with the certificates of an own authority; by default the system's.
    """

    url: str
    body: bytes = b""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    allowed: Networks = ()
    authority: str | None = None


@dataclass(frozen=True)
class Answer:
    """The answer of a server: its status, and the beginning of its body."""

    status: int
    body: bytes = b""


def check_url(url: object, *, allowed: Networks) -> str:
    """Return a URL that a channel may use.

    Raises:
        PolicyError: the URL is no https URL with a host; or is http, and no private network is
            allowed; or contains an account.
    """
    is_plain = isinstance(url, str) and url.isascii() and url.isprintable() and " " not in url
    parts = _parts(str(url)) if is_plain else None
    is_web = parts is not None and (parts.scheme == "https" or (parts.scheme == "http" and allowed))
    if parts is None or not is_web:
        shown = masked_url(str(url))
        hint = "http is allowed with allow_private= only."
        raise PolicyError("url", shown, allowed="an https URL with a host", hint=hint)
    if "@" in parts.netloc:
        raise PolicyError("url", masked_url(str(url)), allowed="a URL without an account")
    return str(url)


def _parts(url: str) -> SplitResult | None:
    """Return the parts of a URL with a host; None if there is none, or a port cannot be read."""
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_whole else None


def masked_url(url: str) -> str:
    """Return a URL for people: scheme and host; paths of webhooks and pings are secrets."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "..."
    more = "/..." if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{host}{more}" if parts.scheme and host else "..."


def request(wanted: Request, *, clock: Clock | None = None) -> Answer:
    """Send a request, follow its redirects, and return the answer if its status is 2xx.

    Raises:
        DeliveryFailed: the server refused the request, did not answer in time, or cannot be
            reached; or an address on the way is private.
    """
    timer = clock or SystemClock()
    ends = timer.elapsed() + wanted.timeout
    for _ in range(MOST_REDIRECTS + 1):
        answer, headers = _one(wanted, ends, timer)
        if answer.status not in REDIRECTS:
            return _accepted(wanted, answer, headers.get("retry-after", ""))
        wanted = _redirected(wanted, answer.status, headers.get("location", ""))
    raise DeliveryFailed(f"{_host(wanted)} redirects more than {MOST_REDIRECTS} times.")


def _one(wanted: Request, ends: float, clock: Clock) -> tuple[Answer, dict[str, str]]:
    """Send one request without redirects."""
    parts = urlsplit(wanted.url)
    host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
    left = ends - clock.elapsed()
    targets = resolve(host, port, allowed=wanted.allowed, timeout=max(left, 0.001))
    try:
        with _connected(targets, max(ends - clock.elapsed(), 0.001)) as plain:
            sock = _encrypted(plain, host, wanted.authority) if parts.scheme == "https" else plain
            with sock:
                return _exchange(sock, wanted, parts, lambda: clock.elapsed() >= ends)
    except (OSError, HTTPException) as error:
        if clock.elapsed() >= ends:
            message = f"{_host(wanted)} did not answer within {wanted.timeout:g} s."
            raise DeliveryFailed(message) from error
        reason = str(error) or type(error).__name__
        raise DeliveryFailed(f"{_host(wanted)} failed: {reason}.") from error


@contextmanager
def _connected(targets: list[Target], timeout: float) -> Iterator[socket.socket]:
    """Connect to the first address that answers; the socket is cut off when the time is over.

    A timeout of the socket bounds one read. The timer bounds all of them: a server that sends one
    byte each second is cut off too.
    """
    error: OSError | None = None
    for target in targets:
        sock = socket.socket(target.family, socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout / len(targets))
            sock.connect(target.sockaddr)
        except OSError as failed:
            sock.close()
            error = failed
            continue
        sock.settimeout(timeout)
        line = sock.dup()
        timer = Timer(timeout, _cut_off, [line])
        timer.daemon = True
        timer.start()
        try:
            yield sock
        finally:
            timer.cancel()
            line.close()
            sock.close()
        return
    raise error or OSError("no address answered")


def _cut_off(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _encrypted(plain: socket.socket, host: str, authority: str | None) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=authority)
    return context.wrap_socket(plain, server_hostname=host)


def _exchange(
    sock: socket.socket, wanted: Request, parts: SplitResult, is_over: Callable[[], bool]
) -> tuple[Answer, dict[str, str]]:
    connection = HTTPConnection(str(parts.hostname), parts.port)
    # Connected already, to a checked address: the connection must not open one of its own.
    connection.sock, connection.auto_open = sock, 0
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.putrequest(wanted.method, path, skip_host=True, skip_accept_encoding=True)
    default = PORTS[parts.scheme] == (parts.port or PORTS[parts.scheme])
    host = parts.netloc.rpartition(":")[0] if default and parts.port else parts.netloc
    lengths = {"Content-Length": str(len(wanted.body))} if wanted.method != "GET" else {}
    given = {"Host": host, "User-Agent": "sempre", "Connection": "close", **lengths}
    for name, value in {**given, **wanted.headers}.items():
        connection.putheader(name, value)
    connection.endheaders(wanted.body if lengths else None)
    response = connection.getresponse()
    if is_over():
        # Headers that were cut off look like whole ones.
        raise TimeoutError
    try:
        body = _beginning(response)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, body), headers
    finally:
        response.close()


def _beginning(response: HTTPResponse) -> bytes:
    """Return at most 64 KiB of the body; the rest is never read.

    The status has decided already: a body that breaks off changes nothing.
    """
    with suppress(OSError, HTTPException):
        return response.read(LARGEST_ANSWER)
    return b""


def _redirected(wanted: Request, status: int, location: str) -> Request:
    """Return the request to the place that a redirect names; its address is checked as any other.

    Raises:
        DeliveryFailed: the redirect drops the body of the request, or leads from https to http.
    """
    try:
        url = check_url(urljoin(wanted.url, location), allowed=wanted.allowed)
    except (PolicyError, ValueError):
        raise DeliveryFailed(f"{_host(wanted)} redirects to a URL that is not allowed.") from None
    if wanted.method == "POST" and status not in KEEP_BODY:
        message = f"{_host(wanted)} answers {status}, which would drop the message"
        raise DeliveryFailed(f"{message}; the channel needs the URL {masked_url(url)}.")
    before, after = urlsplit(wanted.url), urlsplit(url)
    if before.scheme == "https" and after.scheme != "https":
        raise DeliveryFailed(f"{_host(wanted)} redirects from https to http.")
    if before.netloc == after.netloc:
        return replace(wanted, url=url)
    kept = {name: value for name, value in wanted.headers.items() if name.lower() not in OWN}
    return replace(wanted, url=url, headers=kept)


def _accepted(wanted: Request, answer: Answer, retry_after: str) -> Answer:
    if answer.status in OK:
        return answer
    beginning = " ".join(answer.body[:200].decode(errors="replace").split())
    text = "".join(each if each.isprintable() else "?" for each in beginning)
    message = f"{_host(wanted)} answered {answer.status}{f': {text}' if text else ''}."
    raise DeliveryFailed(message, retry_after=_wait(retry_after))


def _wait(text: str) -> timedelta | None:
    """Return the wait that a server asks for in seconds, an hour at most; None without one."""
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004 - digits
    return timedelta(seconds=min(seconds, LONGEST_RETRY_AFTER)) if seconds else None


def _host(wanted: Request) -> str:
    return str(urlsplit(wanted.url).hostname)
