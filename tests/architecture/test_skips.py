"""At a desk a test may be skipped; in CI a skip is a failure, under xdist too."""

import pytest

from tests.architecture.source import ROOT

PASSES = "def test_passes(): pass"
XFAILS = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_xfails(): assert False"
SKIPS = "import pytest\n@pytest.mark.skip\ndef test_skips(): pass"
SKIPS_INSIDE = "import pytest\ndef test_skips(): pytest.skip('no server')"
SKIPS_MODULE = "import pytest\npytest.skip('no server', allow_module_level=True)"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.makepyfile(test_other=PASSES)
    return pytester


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_skip_fails_in_ci(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(test_mark=SKIPS, test_inside=SKIPS_INSIDE, test_module=SKIPS_MODULE)

    result = suite.runpytest_subprocess(workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    for name in ("test_mark", "test_inside", "test_module"):
        result.stdout.fnmatch_lines([f"SKIPPED IN CI, so failed: {name}.py*"])


def test_an_expected_failure_passes_in_ci(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(test_sample=XFAILS)

    assert suite.runpytest_subprocess().ret == pytest.ExitCode.OK


def test_a_skip_passes_at_a_desk(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    suite.makepyfile(test_sample=SKIPS)

    assert suite.runpytest_subprocess().ret == pytest.ExitCode.OK
