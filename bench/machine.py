"""What a measurement depends on and a reader has to know: the machine, the versions, the disk."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from bench.environments import environments, installed
from bench.grids import PEERS
from tools.servers import SERVERS, environment, locate

__all__ = ["described", "file_system", "is_in_memory"]

IN_MEMORY = {"tmpfs", "ramfs"}


def described(folder: Path) -> dict[str, str]:
    """Return what to say about this machine; the folder holds the servers' data."""
    return {
        "sempre": f"{version('sempre')} {_commit()}".strip(),
        "Python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory():.0f} GB",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "data of the servers": f"{file_system(folder)}, every server waits for the disk",
        "servers": ", ".join(_servers()),
        "peers": ", ".join(_peers()),
    }


def file_system(folder: Path) -> str:
    """Return the kind of file system that a folder lies on; empty if nobody can tell."""
    found = ("", "unknown")
    for line in _mounts():
        _, place, kind = line.split()[:3]
        if folder.resolve().is_relative_to(place) and len(place) > len(found[0]):
            found = place, kind
    return found[1]


def is_in_memory(folder: Path) -> bool:
    """Tell whether writes to a folder never reach a disk."""
    return file_system(folder) in IN_MEMORY


def _mounts() -> list[str]:
    mounts = Path("/proc/mounts")
    return mounts.read_text().splitlines() if mounts.exists() else []


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    text = told.read_text() if told.exists() else ""
    named = re.search(r"model name\s*: (.+)", text)
    return named.group(1).strip() if named else platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _commit() -> str:
    done = _said("git", "-c", "safe.directory=*", "rev-parse", "--short", "HEAD")
    return f"({done})" if done else ""


def _servers() -> list[str]:
    found = []
    for server in SERVERS:
        path = locate(server.program)
        number = re.search(r"\d+(\.\d+)+", _said(str(path), server.version_flag)) if path else None
        if number:
            found.append(f"{server.program} {number.group()}")
    return found


def _peers() -> list[str]:
    """Return the peers with their versions: those of our own environment, then those of theirs."""
    ours = [f"{name} {version(name)}" for name in PEERS]
    return list(
        dict.fromkeys([*ours, *(word for name in environments() for word in installed(name))])
    )


def _said(*command: str) -> str:
    try:
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip() if done.returncode == 0 else ""
