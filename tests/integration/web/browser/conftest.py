"""A real browser on a real `sempre dev`, on SQLite and on PostgreSQL."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from sempre import Sempre
from sempre.testing.polling import eventually
from sempre.web.navigation import entries_for
from sempre.web.routes import ROUTES
from tests.architecture.source import ROOT
from tests.integration.sql.postgresql_server import running_postgresql
from tests.integration.web.browser.program import LONG_NAME
from tools.screenshots import chromium

PROGRAM = Path(__file__).with_name("program.py")
STORES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]
JOBS = ("tick", "fails", LONG_NAME)
Open = Callable[..., Page]


class Site:
    """A worker with its dashboard, and the store below both."""

    def __init__(self, url: str, store: str) -> None:
        """Remember where the dashboard is, and the store."""
        self.url = url
        self.store = store

    @property
    def app(self) -> Sempre:
        """Another process of the same application."""
        return Sempre(self.store)

    def execution(self, state: str) -> str:
        """Return the id of an execution in a state; of those that run, the one that never ends."""
        job = LONG_NAME if state == "running" else None
        app = self.app
        try:
            return eventually(lambda: app.executions(state=state, job=job).first(1))[0].id
        finally:
            app.close()

    def pages(self) -> list[str]:
        """Return every page of the navigation, schedules and executions, with and without rows."""
        known = [each.path for each in entries_for(route.path for route in ROUTES)]
        states = ("failed", "running", "succeeded")
        single = [f"/executions/{self.execution(state)}" for state in states]
        names = [f"/schedules/{name}" for name in JOBS]
        return [*known, *names, *single, "/schedules?q=no-such", "/log?actor=nobody"]


@contextmanager
def worker(store: str, folder: Path) -> Iterator[Site]:
    """Start `sempre dev` on a store, with an execution in each state that people see."""
    output = folder / "output"
    program = [sys.executable, "-m", "sempre", "dev", str(PROGRAM)]
    ours = {"PYTHONPATH": str(ROOT / "src"), "SEMPRE_STORE": store}
    with output.open("wb") as log:
        child = subprocess.Popen(program, cwd=folder, env=os.environ | ours, stderr=log, stdout=log)
    try:
        url = eventually(lambda: _found_url(output), otherwise=output.read_text)
        site = Site(url, store)
        app = site.app
        eventually(lambda: len(list(app.schedules)) >= len(JOBS))
        for name in JOBS[1:]:
            app.schedule(name).trigger(why="for the test")
        app.close()
        site.execution("failed")
        site.execution("running")
        yield site
    finally:
        child.kill()
        child.wait()


def _found_url(output: Path) -> str:
    found = re.search(r"dashboard at (\S+)", output.read_text())
    return found[1] if found else ""


@pytest.fixture(scope="package")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("sqlite")
    with worker(f"sqlite:///{folder}/jobs.db", folder) as found:
        yield found


@pytest.fixture(scope="package")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_postgresql() as server:
        store = f"postgresql:///postgres?host={server.socket.parent}&user=postgres&schema=shop"
        with worker(store, tmp_path_factory.mktemp("postgresql")) as found:
            yield found


@pytest.fixture(params=STORES)
def site(request: pytest.FixtureRequest) -> Site:
    """Return a worker on SQLite; with `make browser` on PostgreSQL too."""
    found: Site = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[Open]:
    """Return a maker of pages; at the end no page may have complained or asked another server."""
    with visiting(browser, site) as make:
        yield make


@contextmanager
def visiting(browser: Browser, site: Site) -> Iterator[Open]:
    """Yield a maker of pages of a site."""
    complaints: list[str] = []
    contexts = []

    def hear(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            complaints.append(said.text)

    def make(path: str, *, width: int = 1280, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda made: None if made.url.startswith(site.url) else complaints.append(made.url),
        )
        page.goto(f"{site.url}{path}")
        return page

    yield make
    for each in contexts:
        each.close()
    assert complaints == []
