"""Folders of tests lie where waiting for a disk costs nothing, if there is such a place."""

import os
import tempfile

from tools.scratch import scratch_root

tempfile.tempdir = scratch_root()
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.tempdir)
