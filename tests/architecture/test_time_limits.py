"""A test that hangs has failed: its process ends with the stacks of all threads."""

import tomllib

import pytest

from tests.architecture.source import ROOT

HANGS = """
from threading import Event, Thread

def wait_for_ever():
    Event().wait()

def test_hangs():
    Thread(target=wait_for_ever, daemon=True).start()
    Event().wait()
"""


def test_every_test_has_a_time_limit_and_a_hang_fails_with_all_stacks(
    pytester: pytest.Pytester,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    options = project["tool"]["pytest"]["ini_options"]
    assert 0 < options["faulthandler_timeout"] <= 600
    exits = options["faulthandler_exit_on_timeout"]
    pytester.makeini(f"[pytest]\nfaulthandler_timeout=0.5\nfaulthandler_exit_on_timeout={exits}")
    pytester.makepyfile(test_sample=HANGS)

    result = pytester.runpytest_subprocess("-p", "no:xdist")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stderr.fnmatch_lines(["*in wait_for_ever", "*in test_hangs"])
