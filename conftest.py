"""Where the folders of tests lie, and the guard against connections that tests leave open."""

import os
import tempfile

import pytest

from tests.open_connections import OpenConnections
from tools.scratch import scratch_root

# Where waiting for a disk costs nothing, if there is such a place.
tempfile.tempdir = scratch_root()
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.tempdir)


def pytest_configure(config: pytest.Config) -> None:
    """Let a test fail that leaves a connection open."""
    config.pluginmanager.register(OpenConnections())
