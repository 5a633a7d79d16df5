"""Settings of the whole suite: Hypothesis profiles, signals, and skips that fail in CI."""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=False)
settings.register_profile("long", deadline=None, derandomize=False, max_examples=20_000)
settings.load_profile(os.environ.get("SEMPRE_HYPOTHESIS_PROFILE", "default"))


def pytest_configure() -> None:
    """Handle signals as a terminal starts programs: nohup and `&` leave some of them ignored.

    Programs that tests start inherit ignored signals, and so could not be interrupted.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test fails the session: there, what did not run is not known to work."""
    if skipped_in_ci(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in skipped_in_ci(terminalreporter.config):
        terminalreporter.write_line(f"SKIPPED IN CI, so failed: {report.nodeid}", red=True)


def skipped_in_ci(config: pytest.Config) -> list[pytest.TestReport | pytest.CollectReport]:
    """Return the reports of skipped tests and modules; none outside CI or in an xdist worker."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None:
        return []
    return list(reporter.stats.get("skipped", []))
