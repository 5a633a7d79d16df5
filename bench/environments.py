"""Virtual environments of the peers, one for each, under `.cache`: made once, kept.

What goes into them stands in `bench/peers.txt`. An environment whose line has changed is made anew.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from bench.measuring import Failed

__all__ = ["CACHE", "ROOT", "environments", "installed", "python_of", "read_requirements"]

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
LISTED = Path(__file__).with_name("peers.txt")


def read_requirements(text: str) -> dict[str, list[str]]:
    """Return what each environment holds, from lines of its name and its packages."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return {words[0]: words[1:] for words in lines if words}


def python_of(name: str) -> str:
    """Return the interpreter of an environment, which is made if need be; ours is our own.

    Raises:
        Failed: it cannot be installed.
    """
    if name == "ours":
        return sys.executable
    wanted = read_requirements(LISTED.read_text())[name]
    folder = CACHE / "environments" / name
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text().split() != wanted:
        _install(folder, wanted)
        stamp.write_text("\n".join(wanted))
    return str(folder / "bin" / "python")


def _install(folder: Path, wanted: list[str]) -> None:
    print(f"Installing {' '.join(wanted)}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Failed(f"cannot be installed: {_last_line(done.stderr)}")


def environments() -> list[str]:
    """Return the names of all environments."""
    return list(read_requirements(LISTED.read_text()))


def installed(name: str) -> list[str]:
    """Return the packages of an environment that its line names, with their versions."""
    words = read_requirements(LISTED.read_text()).get(name, [])
    return [word.replace("==", " ") for word in words]


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    return lines[-1] if lines else text.strip()[-200:]
