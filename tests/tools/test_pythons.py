"""Interpreters: each has an environment of its own, and those that pyenv keeps are found."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "python.sh"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Not the variables of a `make` that runs these tests.
    outer = ("PYTHON", "VENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")
    inherited = {name: value for name, value in os.environ.items() if name not in outer}
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def find(what: str, *names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("sh", str(SCRIPT), what, *names, **environment)


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """An interpreter that pyenv keeps, behind a shim that refuses to run it."""
    program = tmp_path / "pyenv" / "versions" / "3.99.1" / "bin" / "python3.99"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    shim = tmp_path / "shims" / "python3.99"
    shim.parent.mkdir()
    shim.write_text('#!/bin/sh\necho "pyenv: python3.99: command not found" >&2\nexit 127\n')
    shim.chmod(0o755)
    return program


def test_without_a_choice_the_environment_is_dot_venv() -> None:
    planned = run("make", "--dry-run", "--always-make", "suite").stdout

    assert ".venv/bin/pytest" in planned
    assert ".cache/venvs" not in planned


def test_a_chosen_interpreter_has_an_environment_of_its_own() -> None:
    planned = run("make", "--dry-run", "--always-make", "suite", f"PYTHON={sys.executable}").stdout

    assert f".cache/venvs/{VERSION}/bin/pytest" in planned
    assert ".venv/bin/" not in planned


def test_an_interpreter_that_is_not_there_stops_make() -> None:
    refused = run("make", "--dry-run", "suite", "PYTHON=python3.98")

    assert refused.returncode != 0
    assert "python3.98" in refused.stderr


def test_an_interpreter_behind_a_shim_of_pyenv_is_found(hidden: Path) -> None:
    path = f"{hidden.parents[4] / 'shims'}:{os.environ['PATH']}"
    place = {"PYENV_ROOT": str(hidden.parents[3]), "PATH": path}

    found = find("find", "python3.99", **place)
    version = find("version", "python3.99", **place)

    assert (found.returncode, found.stdout.strip()) == (0, str(hidden))
    assert version.stdout.strip() == VERSION


def test_every_supported_version_that_is_there_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: 3."
    supported = {
        f"3.{each.removeprefix(prefix)}" for each in project["classifiers"] if prefix in each
    }

    listed = find("all").stdout.split()

    versions = [find("version", program).stdout.strip() for program in listed]
    assert VERSION in versions
    assert set(versions) <= supported
    assert len(versions) == len(set(versions))
