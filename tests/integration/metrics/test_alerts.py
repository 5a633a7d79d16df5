"""The alert rules are valid, fire when they should, and name metrics and runbooks that exist."""

import re
import shutil
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.integration.metrics.prometheus_server import promtool

FOLDER = ROOT / "deploy" / "prometheus"
RULES = (FOLDER / "alerts.yml").read_text()
ALERTS = re.findall(r"^      - alert: (\w+)$", RULES, re.MULTILINE)


def test_the_rules_and_the_example_of_a_configuration_are_valid() -> None:
    for words in (["check", "rules", "alerts.yml"], ["check", "config", "prometheus.yml"]):
        done = promtool(FOLDER, *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_fires_when_it_should_and_not_in_a_healthy_fleet() -> None:
    done = promtool(FOLDER, "test", "rules", "alerts_test.yml")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_test_that_would_notice_its_absence(alert: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    rules = tmp_path / "alerts.yml"
    rules.write_text(re.sub(rf"- alert: {alert}$", "- alert: Other", RULES, flags=re.MULTILINE))

    done = promtool(tmp_path, "test", "rules", "alerts_test.yml")

    assert done.returncode == 1
    assert f"alertname: {alert}" in done.stdout + done.stderr


def test_every_alert_has_a_severity_a_summary_and_a_runbook_that_exists() -> None:
    pages = {
        page: {
            line.removeprefix("## ").strip().lower()
            for line in (ROOT / page).read_text().splitlines()
            if line.startswith("## ")
        }
        for page in ("docs/reference/status.md", "docs/reference/metrics.md")
    }
    parts = RULES.split("      - alert: ")[1:]
    assert len(parts) == len(ALERTS)
    for part in parts:
        assert re.search(r"severity: (page|ticket)\n", part), part
        assert re.search(r'summary: "[A-Z{s].*\."\n', part), part
        [runbook] = re.findall(r"runbook_url: (.+)", part)
        page, _, section = runbook.partition("#")
        assert section == "{{ $labels.code | toLower }}" or section in pages[page], runbook
