"""What pages cost: calls of the store, open tabs, and answers that have not changed."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from starlette.testclient import TestClient

from sempre import Sempre
from sempre.web.dashboard import make_dashboard
from sempre.web.live import Poller, Probes
from sempre.web.visit import Options
from tests.integration.web.conftest import Client

MOST = 5
PAGES = (
    "/",
    "/schedules",
    "/executions",
    "/executions?state=failed",
    "/workers",
    "/switches",
    "/log",
    "/settings",
    "/api/v1/status",
    "/api/v1/workers",
)


class CountedStore:
    """A store that notes the operations that are called."""

    def __init__(self, store: object) -> None:
        self._store = store
        self.called: list[str] = []

    def __getattr__(self, name: str) -> object:
        found = getattr(self._store, name)
        if callable(found):
            self.called.append(name)
        return found


@pytest.fixture
def store(app: Sempre) -> Iterator[CountedStore]:
    """Return the store of the application, which counts from now on."""
    engine = app.engine
    plain = engine.store
    counted = CountedStore(plain)
    engine.store = counted  # type: ignore[assignment]  # it does what the store does
    yield counted
    engine.store = plain


@pytest.mark.parametrize("path", PAGES)
def test_a_page_reads_the_store_at_most_five_times(
    store: CountedStore, client: Client, path: str
) -> None:
    visitor = client()
    assert visitor.get(path).status_code == 200
    store.called.clear()

    assert visitor.get(path).status_code == 200

    assert len(store.called) <= MOST, store.called


def test_200_open_tabs_cost_the_store_one_call_for_each_probe(
    app: Sempre, store: CountedStore
) -> None:
    probes, probed = Probes(lambda: app.engine), 0

    def probe() -> frozenset[str]:
        nonlocal probed
        probed += 1
        probes.next()
        return frozenset({"log"}) if probed == 8 else frozenset()

    async def tab(poller: Poller) -> None:
        async with aclosing(poller.messages()) as messages:
            async for text in messages:
                if "changed" in text:
                    return

    async def visit() -> None:
        poller = Poller(probe, every=0.01)
        await asyncio.gather(*(tab(poller) for _ in range(200)))

    asyncio.run(visit())

    assert probed >= 8
    assert len(store.called) == probed


def test_a_wsgi_host_has_no_stream_and_answers_304_for_what_the_browser_has(app: Sempre) -> None:
    polled = make_dashboard(app, auth=lambda _request: "read", options=Options(streams=False))
    visitor = TestClient(polled)

    assert visitor.get("/live").status_code == 404
    first = visitor.get("/api/v1/log")
    again = visitor.get("/api/v1/log", headers={"if-none-match": first.headers["etag"]})

    assert first.headers["cache-control"] == "no-cache, private"
    assert (again.status_code, again.content) == (304, b"")
