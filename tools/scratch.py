"""Where tests keep the files of their servers: in memory, if there is room for them.

The stores under test insist on servers that wait for their disk. What the tests want to know is
whether that is asked for, not how fast a disk is; in memory the same waiting costs nothing.
"""

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["scratch_root"]

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
# Some servers with their logs, for several test processes at once.
ROOM = 4 * 2**30


def scratch_root() -> str:
    """Return a folder with a short path, in which to make temporary ones."""
    roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    if roomy and shutil.disk_usage(MEMORY).free >= ROOM:
        return str(MEMORY)
    return "/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()  # noqa: S108 - as above
