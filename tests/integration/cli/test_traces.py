"""`sempre execution` names the trace in which an execution was enqueued."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Sempre
from tests.integration.cli.shop import Shop
from tests.unit.telemetry.tracing import recording


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    url = f"sqlite:///{tmp_path / 'traces.db'}"
    app = Sempre(url)
    yield Shop(app, url)
    app.close()


def test_an_execution_names_the_trace_of_its_enqueue(shop: Shop) -> None:
    job = shop.app.job(name="bill")(lambda: None)
    silent = job.enqueue().id
    with recording() as recorded:
        traced = job.enqueue().id

    context = recorded.one("enqueue bill").get_span_context()
    assert context is not None
    trace_id = f"{context.trace_id:032x}"
    shown = shop.cli("execution", traced).stdout.split()
    assert shown[shown.index("trace") + 1] == trace_id
    assert shop.answer("execution", traced)["execution"]["trace_id"] == trace_id
    assert "trace" not in shop.cli("execution", silent).stdout.split()
    assert shop.answer("execution", silent)["execution"]["trace_id"] is None
