"""A dashboard on a SQLite file with an execution in each state, and clients of each role."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sempre import Retry, Sempre, current

NASTY = "<script>alert(1)</script>\"'&"
Client = Callable[..., TestClient]
logger = logging.getLogger("shop")


def declare(app: Sempre) -> None:
    @app.every("1s", tags=["cache"])
    def refresh_cache() -> dict[str, int]:
        logger.info("refreshed %s", NASTY)
        return {"rows": 42}

    @app.every("1s", retry=Retry(0), tags=["billing"])
    def charge(note: str = NASTY, api_key: str = "s3cr3t-value") -> None:
        raise ConnectionError(f"{NASTY} {note} password=hunter2 {len(api_key)}")

    @app.cron("30 2 * * *", timezone="Europe/Rome", note=f"see {NASTY}")
    def nightly() -> None: ...

    @app.job
    def one_off(number: int) -> int:
        current().progress(number, total=10, note=NASTY)
        return number


@pytest.fixture(scope="package")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a store in which each job has run."""
    path = tmp_path_factory.mktemp("web") / "jobs.db"
    app = Sempre(f"sqlite:///{path}")
    declare(app)
    with app.testing("2026-03-28 00:00Z"):
        pass
    app.sync()
    for name in ("refresh_cache", "charge"):
        app.schedule(name).trigger()
    app.close()
    with app.running() as running:
        assert running is not None
        wait_for_ends(app)
    for name in ("refresh_cache", "charge"):
        app.schedule(name).disable()
        app.schedule(name).edit(every="1h")
        app.schedule(name).enable()
    app.close()
    return path


def wait_for_ends(app: Sempre) -> None:
    from sempre.testing.polling import eventually  # noqa: PLC0415 - only here

    def have_ended() -> bool:
        return all(app.executions(state=each).first(1) for each in ("succeeded", "failed"))

    eventually(have_ended)


@pytest.fixture
def app(file: Path, tmp_path: Path) -> Iterator[Sempre]:
    """Return an application on a copy of the file."""
    copy = tmp_path / "jobs.db"
    copy.write_bytes(file.read_bytes())
    app = Sempre(f"sqlite:///{copy}")
    declare(app)
    yield app
    app.close()


@pytest.fixture
def client(app: Sempre) -> Client:
    """Return a maker of clients: by role, under a prefix, with other options."""

    def make(role: str = "admin", *, prefix: str = "", **options: object) -> TestClient:
        found = app.dashboard(auth=lambda _request: (role, "ann"), **options)  # type: ignore[arg-type]  # as given
        origin = {"origin": "http://testserver"}
        return TestClient(found, root_path=prefix, headers=origin, follow_redirects=False)

    return make
