"""A private authority of the tests' own, which vouches for servers on localhost."""

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.scratch import scratch_root

__all__ = ["Authority", "authority", "free_port"]

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
# As RFC 5280 has it, and as Python 3.13 and newer demand: an authority says what its key is for.
USAGE = ["-addext", "keyUsage = critical, keyCertSign, cRLSign"]
NAMES = """subjectAltName = DNS:localhost
authorityKeyIdentifier = keyid
subjectKeyIdentifier = hash
"""


class Authority(NamedTuple):
    """The files of an authority, and of a server that it vouches for."""

    folder: Path

    @property
    def root(self) -> Path:
        """The certificate of the authority, which clients are told of."""
        return self.folder / "root.pem"

    @property
    def certificate(self) -> Path:
        """The certificate of the server: of the name localhost, not of its address."""
        return self.folder / "server.pem"

    @property
    def key(self) -> Path:
        """The key of the server."""
        return self.folder / "server.key"


@contextmanager
def authority() -> Iterator[Authority]:
    """Make an authority; skip where the program for that is missing."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed; it makes the certificates of the tests")
    folder = Path(tempfile.mkdtemp(prefix="sempre-tls-", dir=scratch_root()))
    folder.chmod(0o755)  # a server may run as another user
    (folder / "names").write_text(NAMES)
    root = ["req", "-x509", *KEY, *USAGE, "-days", "2", "-subj", "/CN=Sempre tests"]
    asked = ["req", "-new", *KEY, "-subj", "/CN=localhost"]
    vouch = ["x509", "-req", "-in", "asked.pem", "-CA", "root.pem", "-CAkey", "root.key"]
    try:
        for words in (
            [*root, "-keyout", "root.key", "-out", "root.pem"],
            [*asked, "-keyout", "server.key", "-out", "asked.pem"],
            [*vouch, "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem"],
        ):
            subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
        yield Authority(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
