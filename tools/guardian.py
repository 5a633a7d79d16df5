"""Runs a server of the tests that ends with the process that started it, however that ends.

A test run that is killed cleans nothing up. So a server is the child of a small guardian, which
holds one end of a pipe: when the other end is gone, with a farewell or without, it ends the
server. Without one it also removes the server's folder, which nobody else will.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

__all__ = ["Guarded", "main"]

PATIENCE = 60.0
FAREWELL = b"farewell"


class Guarded:
    """A server that is running under its guardian.

    Args:
        command: of the server, which must stay in the foreground.
        folder: what it keeps its files in.
        user: whom it runs as; None is oneself.
        environment: what it is told besides.
        output: where what it prints goes.
        ends_by: the signal that ends it.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path,
        user: str | None = None,
        environment: dict[str, str] | None = None,
        output: int | IO[Any] = subprocess.DEVNULL,
        ends_by: signal.Signals = signal.SIGKILL,
    ) -> None:
        """Start it. Its own session: an interrupt from the keyboard is for the tests to handle."""
        told = [str(folder), user or "", str(int(ends_by)), *map(str, command)]
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, *told],
            cwd="/",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )
        said = self._guardian.stdout.readline() if self._guardian.stdout else b""
        self.output = self._guardian.stderr
        if not said:
            self.stop()
            raise RuntimeError(f"{command[0]} cannot be run")
        self.pid = int(said)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._guardian.poll() is None

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        """Send it a signal that it does not survive, and wait until it is gone."""
        with suppress(ProcessLookupError):
            if self.is_running:
                os.kill(self.pid, by)
        self._guardian.wait(PATIENCE)
        self._close()

    def stop(self) -> None:
        """End it in the way that was said; its files stay. Twice is fine."""
        if self._guardian.stdin is not None and not self._guardian.stdin.closed:
            try:
                self._guardian.communicate(FAREWELL, timeout=PATIENCE)
            finally:
                self._close()

    def _close(self) -> None:
        for end in (self._guardian.stdin, self._guardian.stdout, self._guardian.stderr):
            if end is not None:
                end.close()


def main(folder: str, user: str, ends_by: str, *command: str) -> int:
    """Run a server until it ends, or until nobody holds the other end of the pipe."""
    server = subprocess.Popen(
        command, user=user or None, stdin=subprocess.DEVNULL, stdout=sys.stderr
    )
    print(server.pid, flush=True)
    ending = Event()

    def end_with_server() -> None:
        code = server.wait()
        if not ending.is_set():
            os._exit(code & 0xFF)

    Thread(target=end_with_server, daemon=True).start()
    told = sys.stdin.buffer.read()
    ending.set()
    server.send_signal(int(ends_by))
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
    if not told:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
