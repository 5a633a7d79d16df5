"""A redis-server of the tests' own, in a temporary folder and on a unix socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tools.guardian import Guarded
from tools.servers import environment, locate

__all__ = ["RedisServer", "listeners", "redis_server"]

SAFE = {"appendonly": "yes", "maxmemory-policy": "noeviction"}
PATIENCE = 10.0
PAUSE = 0.01


class RedisServer:
    """A server that can be killed and started again on the same folder."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.socket = folder / "redis.sock"
        self.settings = SAFE | settings
        self._running: Guarded | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def client(self) -> redis.Redis:
        never = Retry(NoBackoff(), 0)
        return redis.Redis(unix_socket_path=str(self.socket), decode_responses=True, retry=never)

    def start(self) -> None:
        program = locate("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed; run make servers")
        self.socket.unlink(missing_ok=True)
        given = {"port": "0", "unixsocket": str(self.socket), "dir": str(self.folder), "save": ""}
        words = [word for name, value in (given | self.settings).items() for word in (name, value)]
        flags = [f"--{word}" if place % 2 == 0 else word for place, word in enumerate(words)]
        with (self.folder / "log").open("ab") as log:
            self._running = Guarded(
                [program, *flags], folder=self.folder, environment=environment(), output=log
            )
        self._wait_until_it_answers()

    @property
    def pid(self) -> int:
        assert self._running is not None
        return self._running.pid

    def kill(self) -> None:
        """End it as a power cut would, as far as a process can."""
        assert self._running is not None
        self._running.kill()

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def _wait_until_it_answers(self) -> None:
        assert self._running is not None
        for _ in range(int(PATIENCE / PAUSE)):
            assert self._running.is_running, (self.folder / "log").read_text()
            try:
                with self.client() as client:
                    client.ping()
            except redis.AuthenticationError:
                return
            except (redis.ConnectionError, redis.ResponseError):
                Event().wait(PAUSE)
            else:
                return
        pytest.fail((self.folder / "log").read_text())


def listeners(server: RedisServer, lane: str) -> int:
    """Return how many connections are subscribed to a lane."""
    with server.client() as client:
        [(_, count)] = client.pubsub_numsub(f"{{sempre-bell}}:lane:{lane}")
    return int(count)


@contextmanager
def redis_server(**settings: str) -> Iterator[RedisServer]:
    """Run a server with settings such as `appendonly="no"`; a _ in a name stands for a -."""
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    # Not pytest's folder: the name of a socket has to be short.
    with TemporaryDirectory(prefix="sempre-redis-") as folder:
        server = RedisServer(Path(folder), named)
        try:
            server.start()
            yield server
        finally:
            server.stop()
