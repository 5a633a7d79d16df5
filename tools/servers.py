"""Make the servers of the integration tests available, without starting any of them.

A server is looked for on PATH, then where Debian, Homebrew or an earlier run of this script put
it. What is missing is installed on Debian and Ubuntu: by root as system packages, by anyone else
as packages unpacked into `.cache/servers`. Starting servers is up to the tests, each on its own
private socket.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SERVERS", "Server", "environment", "locate", "main", "no_service_starts"]

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "servers"
POLICY = Path("/usr/sbin/policy-rc.d")
POLICY_TEXT = "#!/bin/sh\n# tools/servers.py of Sempre is installing: start no service.\nexit 101\n"


@dataclass(frozen=True)
class Server:
    """A program the tests start, the Debian package that has it, and how to ask its version."""

    program: str
    package: str
    version_flag: str = "--version"


SERVERS = (
    Server("postgres", "postgresql"),
    Server("mariadbd", "mariadb-server"),
    Server("redis-server", "redis-server"),
    Server("beanstalkd", "beanstalkd", "-v"),
    Server("pgbouncer", "pgbouncer"),
    Server("chromium", "chromium"),
    Server("prometheus", "prometheus"),
    Server("promtool", "prometheus"),
)


class CommandError(Exception):
    """A command of the installation failed; the message has the end of its output."""


def locate(name: str) -> Path | None:
    """Find the program `name` on PATH or in a server directory; None if it is nowhere.

    Run it under `environment()`: a program in the cache needs the libraries beside it.
    """
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(_directories()))
    return Path(found) if found else None


def environment() -> dict[str, str]:
    """Return the process environment in which located programs find their shared libraries."""
    libraries = [str(path) for path in CACHE.glob("usr/lib/*-linux-gnu*")]
    if not libraries:
        return dict(os.environ)
    inherited = os.environ.get("LD_LIBRARY_PATH")
    return os.environ | {
        "LD_LIBRARY_PATH": os.pathsep.join([*libraries, *filter(None, [inherited])])
    }


def main() -> int:
    """Install what is missing and print one line per server; 1 if one cannot be had."""
    versions = {server: _version(server) for server in SERVERS}
    if missing := _packages_missing(versions):
        _install(missing)
        versions = {server: _version(server) for server in SERVERS}
    for server, version in versions.items():
        where = locate(server.program) or "not found"
        print(f"{server.program:12}  {version or 'unusable':8}  {where}")
    if missing := _packages_missing(versions):
        print(f"Missing servers: {', '.join(missing)}. {_remedy(missing)}", file=sys.stderr)
    return 1 if missing else 0


def _packages_missing(versions: Mapping[Server, str | None]) -> list[str]:
    """Return the packages of servers without a version, each once."""
    missing = (server.package for server, version in versions.items() if version is None)
    return list(dict.fromkeys(missing))


def _directories() -> list[str]:
    """List the places outside PATH that may hold a server, the newest PostgreSQL first."""
    roots = (Path("/"), CACHE)
    versioned = [path for root in roots for path in root.glob("usr/lib/postgresql/[0-9]*/bin")]
    versioned.sort(key=lambda path: float(path.parent.name), reverse=True)
    plain = [root / directory for root in roots for directory in ("usr/sbin", "usr/bin")]
    homebrew = [*Path("/opt/homebrew").glob("opt/*/bin"), Path("/usr/local/sbin")]
    return [str(path) for path in (*versioned, *plain, *homebrew)]


def _version(server: Server) -> str | None:
    """Ask the server its version; None if it is absent, does not run or does not say."""
    path = locate(server.program)
    if path is None:
        return None
    try:
        answer = _run(str(path), server.version_flag)
    except (CommandError, OSError):
        return None
    number = re.search(r"\d+(\.\d+)+", answer)
    return number.group() if number else None


def _install(packages: Sequence[str]) -> None:
    """Install the packages by the means this machine allows; a failure is printed, not raised."""
    if shutil.which("apt-get") is None:
        return
    print(f"Installing {', '.join(packages)}", flush=True)
    try:
        _install_as_root(packages) if os.geteuid() == 0 else _unpack_into_cache(packages)
    except (CommandError, OSError) as error:
        print(error, file=sys.stderr)


def _install_as_root(packages: Sequence[str]) -> None:
    apt = ("apt-get", "--yes", "--quiet", "--option=DPkg::Lock::Timeout=300")
    _run(*apt, "update")
    with no_service_starts():
        _run(*apt, "install", "--no-install-recommends", *packages)


@contextmanager
def no_service_starts() -> Iterator[None]:
    """Forbid packages to start their services, then put back the machine's own policy."""
    saved = POLICY.with_name("policy-rc.d.saved-by-sempre")
    # A policy with our text was left by a run that was killed: not the machine's own.
    if POLICY.exists() and POLICY.read_text() != POLICY_TEXT:
        POLICY.rename(saved)
    POLICY.write_text(POLICY_TEXT)
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()
        if saved.exists():
            saved.rename(POLICY)


def _unpack_into_cache(packages: Sequence[str]) -> None:
    """Download the packages and what they need, and unpack them: needs no rights at all."""
    downloads = CACHE.with_name("apt")
    (downloads / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    apt = (
        "apt-get",
        "--quiet",
        f"--option=Dir::State::lists={downloads / 'lists'}",
        f"--option=Dir::Cache={downloads}",
    )
    _run(*apt, "update")
    plan = _run(*apt, "--simulate", "install", "--no-install-recommends", *packages)
    needed = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
    _run(*apt, "download", *needed, directory=downloads)
    CACHE.mkdir(exist_ok=True)
    for archive in sorted(downloads.glob("*.deb")):
        _run("dpkg", "--extract", str(archive), str(CACHE))
    shutil.rmtree(downloads)


def _remedy(packages: Sequence[str]) -> str:
    if shutil.which("apt-get"):
        return f"As root: apt-get install --no-install-recommends {' '.join(packages)}"
    return "Install them with the system's package manager and put them on PATH."


def _run(*command: str, directory: Path | None = None) -> str:
    """Run a command to its end and return what it printed; raise CommandError if it fails."""
    # NEEDRESTART_SUSPEND: Ubuntu would restart unrelated services after an installation.
    settings = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment() | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        ending = "\n".join(done.stdout.splitlines()[-15:])
        raise CommandError(f"{shlex.join(command)} failed with {done.returncode}:\n{ending}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
