"""A beanstalkd of the tests' own, in a temporary folder and on a unix socket."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest

from sempre.brokers.beanstalkd import BeanstalkdBroker
from sempre.brokers.beanstalkd_wire import Address, Wire
from tools.servers import environment, locate

__all__ = ["BeanstalkdServer", "beanstalkd_server", "waiting_connections"]

PATIENCE = 10.0
PAUSE = 0.01


class BeanstalkdServer:
    """A server that can be killed and started again; without a log it then begins anew."""

    def __init__(self, folder: Path, flags: tuple[str, ...]) -> None:
        self.folder = folder
        self.address = Address(path=str(folder / "beanstalkd.sock"))
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    def broker(self, *, visibility: float = 120.0) -> BeanstalkdBroker:
        return BeanstalkdBroker(self.address, visibility=visibility)

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """Lend a connection to speak the raw protocol on."""
        opened = Wire(self.address, connect_after=PATIENCE, answer_after=PATIENCE)
        try:
            yield opened
        finally:
            opened.close()

    def start(self) -> None:
        program = locate("beanstalkd")
        if program is None:
            pytest.skip("beanstalkd is not installed; run make servers")
        Path(self.address.path).unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(program), "-l", f"unix:{self.address.path}", *self._flags],
                env=environment(),
                stdout=log,
                stderr=log,
            )
        self._wait_until_it_answers()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it as a power cut would, as far as a process can."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(PATIENCE)

    def restart(self) -> None:
        self.kill()
        self.start()

    def drain(self) -> None:
        """Let it take in nothing more."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGUSR1)
        for _ in range(int(PATIENCE / PAUSE)):
            with self.wire() as wire:
                [answer] = wire.ask([b"stats\r\n"])
            if answer.fields()["draining"] == "true":
                return
            Event().wait(PAUSE)
        pytest.fail("beanstalkd does not drain")

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def _wait_until_it_answers(self) -> None:
        assert self._process is not None
        for _ in range(int(PATIENCE / PAUSE)):
            assert self._process.poll() is None, (self.folder / "log").read_text()
            try:
                with self.wire():
                    return
            except OSError:
                Event().wait(PAUSE)
        pytest.fail((self.folder / "log").read_text())


def waiting_connections(server: BeanstalkdServer) -> int:
    """Return how many connections wait for a message."""
    with server.wire() as wire:
        [stats] = wire.ask([b"stats\r\n"])
    return int(stats.fields()["current-waiting"])


@contextmanager
def beanstalkd_server(*flags: str) -> Iterator[BeanstalkdServer]:
    """Run a server with flags such as `-z 100`."""
    # Not pytest's folder: the name of a socket has to be short.
    with TemporaryDirectory(prefix="sempre-beanstalkd-") as folder:
        server = BeanstalkdServer(Path(folder), flags)
        try:
            server.start()
            yield server
        finally:
            server.stop()
