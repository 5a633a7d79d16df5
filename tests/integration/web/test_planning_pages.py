"""Timeline, forecast, pairs and statement: content, filters in the URL, files, bounds."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from sempre import Retry, Sempre
from sempre.ports.store import Store
from tests.integration.web.conftest import Client

START = datetime(2026, 11, 16, tzinfo=UTC)
ERROR = "password=hunter2"


def declare(app: Sempre) -> None:
    @app.every("1h", tags=["billing"], retry=Retry(0))
    def bill() -> None:
        raise ConnectionError(f"<b>refused</b> {ERROR}")

    @app.cron("*/20 * * * *", tags=["ops"])
    def refresh() -> None: ...

    @app.job(unique=["database_id"])
    def create_database(database_id: int) -> None: ...

    @create_database.pair(every="10m")
    def pending_databases() -> list[int]:
        return [1, 2, 3]

    @app.job(unique=["user_id"])
    def mail_user(user_id: int) -> None: ...

    @mail_user.pair(every="10m")
    def pending_users() -> list[int]:
        raise ConnectionError(f"no table {ERROR}")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return pages of a store in which two days of work have passed, by their path."""
    app = Sempre("memory://")
    declare(app)
    with app.testing(START) as time:
        time.takes("bill", "10m")
        time.travel("2d 5m")
        browser = TestClient(app.dashboard(auth=lambda _: "read"))
        return {path: browser.get(path).text for path in PATHS}


PATHS = (
    *("/timeline", "/timeline?zoom=1h", "/timeline?tag=ops", "/timeline?q=nothing"),
    *("/timeline?tz=Europe/Rome", "/forecast", "/forecast?for=24h&capacity=1", "/forecast?tag=ops"),
    *("/forecast?tag=nothing", "/pairs", "/statement", "/statement?schedule=bill"),
    *("/statement?month=2026-10", "/statement/csv", "/statement/json", "/statement/html"),
    *("/statement/csv?tag=ops", "/statement?q=fresh"),
)


def test_a_timeline_draws_past_runs_planned_slots_and_now(pages: dict[str, str]) -> None:
    text = pages["/timeline"]

    assert '<svg class="chart gantt"' in text
    assert 'class="run failed"' in text
    assert 'class="planned"' in text
    assert 'class="now"' in text
    assert "times: UTC" in text
    assert "runs in flight" in text
    assert "times: Europe/Rome" in pages["/timeline?tz=Europe/Rome"]


def test_a_timeline_is_filtered_and_zoomed_by_its_url(pages: dict[str, str]) -> None:
    assert "/schedules/bill" in pages["/timeline"]
    assert "/schedules/bill" not in pages["/timeline?tag=ops"]
    assert "/schedules/refresh" in pages["/timeline?tag=ops"]
    assert "1h around now" in pages["/timeline?zoom=1h"]
    assert "No schedule matches" in pages["/timeline?q=nothing"]
    assert 'href="/timeline?tag=ops&amp;zoom=7d"' in pages["/timeline?tag=ops"]


def test_a_forecast_draws_the_load_and_names_peaks_and_collisions(pages: dict[str, str]) -> None:
    text = pages["/forecast"]

    assert text.count('<svg class="chart load"') == 2
    assert "Busiest minutes" in text
    assert "sempre edit" in text
    assert "No slot of these schedules" in pages["/forecast?tag=nothing"]


def test_words_of_the_url_that_make_no_sense_are_left_out(client: Client) -> None:
    for path in ("/timeline?zoom=1y", "/forecast?for=9y", "/forecast?capacity=-1&capacity=x"):
        assert client().get(path).status_code == 200, path
    assert "no capacity given" in client().get("/forecast?capacity=0").text


def test_a_forecast_compares_with_a_capacity(pages: dict[str, str]) -> None:
    assert "no capacity given" in pages["/forecast"]
    assert "capacity 1" in pages["/forecast?for=24h&capacity=1"]


def test_pairs_show_their_last_scan_and_problems(pages: dict[str, str]) -> None:
    text = pages["/pairs"]

    assert "pair:create_database" in text
    assert "of 10m" in text
    assert "failing" in text
    assert "no table password=[redacted]" in text


def test_a_statement_sums_up_the_month_and_gives_reasons(pages: dict[str, str]) -> None:
    text = pages["/statement"]

    assert "Statement of 2026-11" in text
    assert "Each is accounted for." in text
    assert 'href="/statement?month=2026-10"' in text
    assert "2026-12" not in text
    assert "No schedule existed in this month" in pages["/statement?month=2026-10"]
    assert "2026-11" in pages["/statement?month=2026-10"]
    assert "schedule=bill" not in pages["/statement?q=fresh"]


def test_a_statement_of_one_schedule_lists_its_exceptions(pages: dict[str, str]) -> None:
    text = pages["/statement?schedule=bill"]

    assert "&lt;b&gt;refused&lt;/b&gt;" in text
    assert "/executions/" in text


@pytest.mark.parametrize("path", PATHS)
def test_no_page_or_file_shows_a_secret_or_foreign_markup(pages: dict[str, str], path: str) -> None:
    assert "hunter2" not in pages[path]
    assert path == "/statement/json" or "<b>refused" not in pages[path]


def test_the_files_of_a_statement_agree_with_each_other(pages: dict[str, str]) -> None:
    rows = list(csv.DictReader(io.StringIO(pages["/statement/csv"])))
    found = json.loads(pages["/statement/json"])["statement"]

    assert [each["schedule"] for each in rows] == [each["name"] for each in found["schedules"]]
    assert sum(int(each["demanded"]) for each in rows) == found["totals"]["demanded"] > 0
    assert (
        f'<td>demanded</td><td class="n">{found["totals"]["demanded"]:,}'
        in (pages["/statement/html"])
    )
    assert len(pages["/statement/csv?tag=ops"].splitlines()) == 2


def test_a_file_is_saved_and_never_shown(client: Client) -> None:
    answer = client("read").get("/statement/html")

    assert answer.headers["content-disposition"].startswith('attachment; filename="statement-')
    assert answer.headers["cache-control"] == "no-store"
    assert client().get("/statement/exe").status_code == 404
    assert client().get("/statement/csv?schedule=nothing").status_code == 404
    for month in ("2026-13", "0001-02", "9999-12", "nonsense", "2026-3"):
        assert client().get("/statement", params={"month": month}).status_code == 400, month
    assert client().get("/statement?month=1999-12").status_code == 200
    assert client("deny").get("/statement/csv").status_code == 403


def test_an_empty_store_has_friendly_pages() -> None:
    app = Sempre("memory://")
    with app.testing(START):
        browser = TestClient(app.dashboard(auth=lambda _: "read"))
        for path, words in {
            "/timeline": "There is no schedule yet",
            "/forecast": "No slot lies in the window",
            "/pairs": "There is no pair yet",
            "/statement": "No schedule existed in this month",
        }.items():
            answer = browser.get(path)
            assert answer.status_code == 200
            assert words in answer.text


def note_queries(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the reads of a store from here on, without those that a read makes itself."""
    asked: list[str] = []
    inside: list[str] = []

    def noted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: object, **options: object) -> object:
            if not inside:
                asked.append(name)
            inside.append(name)
            try:
                return method(*args, **options)
            finally:
                inside.pop()

        return call

    for name in ("schedules", "latest", "switches", "executions", "views", "attempts", "outcomes"):
        monkeypatch.setattr(store, name, noted(name, getattr(store, name)))
    return asked


def test_a_timeline_of_many_schedules_is_paged_and_costs_three_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Sempre("memory://")
    for number in range(120):
        app.every("1h", name=f"job_{number:03}")(lambda: None)
    with app.testing(START) as time:
        time.travel("3h")
        browser = TestClient(app.dashboard(auth=lambda _: "read"))
        asked = note_queries(app.engine.store, monkeypatch)
        first = browser.get("/timeline").text

    assert asked == ["schedules", "switches", "latest"]
    assert "job_049" in first
    assert "job_050" not in first
    assert 'rel="next"' in first
