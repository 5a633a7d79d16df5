"""A real Prometheus scrapes a real worker and answers questions about it."""

import json
import signal
from pathlib import Path

from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tests.integration.cli.programs import finished, program
from tests.integration.metrics.prometheus_server import (
    free_port,
    get,
    prometheus_server,
    promtool,
)

JOBS = """
from sempre import Sempre

app = Sempre("sqlite:///jobs.db")


@app.every("1s")
def tick() -> None: ...


@app.every("1s", retry=0)
def doomed() -> None:
    raise ValueError("no")
"""
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: sempre
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def dashboard_queries() -> list[str]:
    """Return the queries of the dashboard, with its variables filled in."""
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "sempre.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return [each.replace("$job", "sempre").replace("$__rate_interval", "1m") for each in found]


def test_prometheus_scrapes_a_worker_and_answers_queries(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "jobs.py").write_text(JOBS)
    config = tmp_path / "prometheus.yml"
    rules = ROOT / "deploy" / "prometheus" / "alerts.yml"
    config.write_text(CONFIG.format(rules=rules, port=port))
    words = ("worker", "jobs.py", "-c", "3", "--processes", "2", "--metrics", f"127.0.0.1:{port}")

    with (
        program(tmp_path, *words) as worker,
        prometheus_server(tmp_path, config) as prometheus,
    ):
        ended = 'sempre_executions_ended_total{job_name="tick", state="succeeded"}'
        eventually(lambda: (prometheus.value(ended) or 0) >= 3)
        assert prometheus.value("sempre_store_up") == 1
        assert prometheus.value("sempre_workers") == 2
        assert prometheus.value("sum(sempre_worker_capacity_runs)") == 6
        assert prometheus.value("sempre_schedules_enabled") == 2
        # `job` is the label of the scrape, and the job of an execution has one of its own.
        [labels] = prometheus.query(ended)
        assert dict(labels)["job"] == "sempre"
        assert not any(name.startswith("exported_") for name, _ in labels)
        late = "sempre_execution_lateness_seconds"
        eventually(lambda: prometheus.value(f"sum(rate({late}_count[30s]))"))
        quantile = f"histogram_quantile(0.5, sum by (le) (rate({late}_bucket[30s])))"
        assert 0 <= eventually(lambda: prometheus.value(quantile)) < 60
        eventually(lambda: prometheus.value('sempre_executions_ended_total{state="failed"}'))
        assert "SempreStoreDown" not in prometheus.firing()
        for query in dashboard_queries():
            prometheus.query(query)
        assert worker.end(signal.SIGTERM) == 0
        assert get(port, "/metrics")[0] == 0
        eventually(lambda: "SempreEndpointDown" in prometheus.firing())


def test_the_command_prints_what_the_linter_of_prometheus_accepts(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    finished(tmp_path, "worker", "jobs.py", "--burst")

    done = finished(tmp_path, "metrics", "--store", "sqlite:///jobs.db")

    assert done.returncode == 0, done.stderr
    checked = promtool(tmp_path, "check", "metrics", standard_input=done.stdout)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
