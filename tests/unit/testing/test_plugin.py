import subprocess
import sys
import tomllib

import pytest

from tests.architecture.source import ROOT

PLUGIN = "sempre.testing.plugin"
SHOP = """
from sempre import Sempre

app = Sempre("sqlite:////nowhere/at/all.db")

@app.every("1h")
def refresh(): ...
"""
TESTS = """
from shop import app, refresh

def test_one(sempre_travel):
    t = sempre_travel(app, "2026-03-29 00:00Z")
    t.travel("12h")
    t.assert_ran(refresh, times=12)

def test_two(sempre_travel):
    t = sempre_travel(app, "2026-03-29 00:00Z")
    t.assert_ran(refresh, times=1)
"""


def test_the_fixture_ends_a_journey_with_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(shop=SHOP, test_shop=TESTS)

    result = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:randomly")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*AssertionError: refresh should have run 1 times, and did never*"]
    )


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def test_the_plugin_imports_nothing_of_what_it_offers() -> None:
    code = f"import sys, {PLUGIN}\nprint(*sorted(m for m in sys.modules if m[:6] == 'sempre'))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.split() == ["sempre", "sempre.testing", PLUGIN]
