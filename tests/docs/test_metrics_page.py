"""The page of metrics, the alerts and the dashboard name the metrics that are exported."""

import json
import re
from collections.abc import Iterator

from sempre.telemetry.exposition import written
from sempre.telemetry.metric_catalog import METRICS, OF_WORKERS
from sempre.telemetry.tally import Tally
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs" / "reference" / "metrics.md").read_text()
ALERTS = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text()
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "sempre.json").read_text())
ROW = re.compile(r"^\| `(sempre_\w+)` \|(.*)\|$", re.MULTILINE)


def exported_names() -> set[str]:
    """Return the name of every series that an endpoint can export."""
    text = written(METRICS.values(), Tally().read(), [])
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    parts = ("", "_bucket", "_count", "_sum")
    return {
        f"{name}{part}"
        for name, kind in kinds.items()
        for part in (parts if kind == "histogram" else ("",))
    }


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\bsempre_\w+", text))


def queries() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (each["query"] for each in DASHBOARD["templating"]["list"])


def test_every_exported_metric_is_documented_and_every_documented_one_is_exported() -> None:
    assert [name for name, _ in ROW.findall(PAGE)] == list(METRICS)
    assert names_in(PAGE) <= exported_names()


def test_the_labels_and_the_type_of_each_metric_are_documented() -> None:
    counted = {each.name for each in OF_WORKERS}
    for name, rest in ROW.findall(PAGE):
        metric, cells = METRICS[name], [cell.strip() for cell in rest.split("|")]
        if name in counted:
            assert cells.pop(0) == metric.kind, name
        else:
            assert metric.kind == "gauge", name
        assert cells[0] == ", ".join(f"`{label}`" for label in metric.labels), name


def test_the_values_of_labels_are_documented() -> None:
    rows = dict(ROW.findall(PAGE))
    for metric in METRICS.values():
        for value in metric.values:
            assert f"`{value}`" in rows[metric.name], (metric.name, value)


def test_the_alerts_ask_for_exported_metrics_only() -> None:
    asked = names_in(ALERTS)

    assert len(asked) > 15
    assert asked <= exported_names()


def test_the_dashboard_asks_for_exported_metrics_only() -> None:
    asked = names_in(" ".join(queries()))

    assert len(asked) > 25
    assert asked <= exported_names()


def test_the_panels_of_the_dashboard_have_titles_and_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        assert panel["title"]
        assert all(target["expr"] for target in panel["targets"])
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells
