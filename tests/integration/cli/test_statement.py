"""`sempre statement` on a SQLite file: tables, CSV, JSON, the page, exit codes."""

import csv
import io
import re
import sqlite3
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.ports.load import Record
from tests.integration.cli.march import lived
from tests.integration.cli.schema import check
from tests.integration.cli.shop import Shop, lines
from tests.integration.cli.terminal import on_terminal

MARCH = ("statement", "--month", "2026-03", "--zone", "Europe/Rome")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return lived()


@pytest.fixture
def march(tmp_path: Path, records: list[Record]) -> Iterator[Shop]:
    """A store that has lived through March."""
    url = f"sqlite:///{tmp_path / 'march.db'}"
    app = Sempre(url, retention="4000d")
    for start in range(0, len(records), 500):
        app.engine.store.load(records[start : start + 500])
    yield Shop(app, url)
    app.close()


def test_the_table_has_a_row_for_each_schedule_and_their_total(march: Shop) -> None:
    found = lines(march.cli(*MARCH))

    assert found[0] == "statement of 2026-03 (Europe/Rome)"
    rows = {line.split()[0]: line.split()[1:] for line in found[2:6]}
    assert rows["bill"] == ["62", "54", "1", "0", "2", "5", "0", "0"]
    assert rows["refresh_the_cache_of_everything"] == ["743", "733", "1", "0", "0", "0", "9", "0"]
    assert rows["total"] == ["819", "801", "2", "0", "2", "5", "9", "0"]
    text = "\n".join(found)
    assert re.search(r"bill +skipped +5 +paused", text)
    assert re.search(r"bill +failed +2 +retries exhausted$", text, re.MULTILINE)
    assert "a backfill ran 3 slots later" in text
    assert "gone: Deleted since; found by its executions." in text


def test_the_tables_fit_80_columns(march: Shop, tmp_path: Path) -> None:
    for words in (MARCH, ("statement", "--slots", "--month", "2026-02", "-s", "bill")):
        found = on_terminal(tmp_path, *words, SEMPRE_STORE=march.url)
        assert max(map(len, found.lines)) <= 80


def test_each_slot_is_listed_once(march: Shop) -> None:
    found = lines(march.cli(*MARCH, "--slots", "-s", "bill"))

    assert sum(line.endswith("on time") for line in found) == 54
    assert any("Thu 12 Mar 02:00 to Sat 14 Mar 02:00" in line for line in found)
    assert "62 slots demanded: 54 on time, 1 late, 2 failed, 5 skipped" in found


def test_the_answer_of_json_keeps_the_schema_and_adds_up(march: Shop) -> None:
    answer = check("statement", march.cli(*MARCH, "--json").stdout)["statement"]

    for each in [answer, *answer["schedules"]]:
        totals = each["totals"]
        assert sum(totals["outcomes"].values()) == totals["demanded"]
        assert totals["outcomes"]["unexplained"] == 0
    assert answer["start"] == "2026-02-28T23:00:00Z"
    assert answer["store"] == march.app.engine.store.uuid
    slots = check("statement --slots", march.cli(*MARCH, "--slots", "--json").stdout)["statement"]
    assert sum(each["slots"] for each in slots["slots"]) == answer["totals"]["demanded"]
    assert slots["totals"]["outcomes"] == answer["totals"]["outcomes"]
    assert "hunter2" not in str(slots) + str(answer)


def test_csv_has_the_numbers_of_json_and_no_formulas(march: Shop) -> None:
    rows = list(csv.DictReader(io.StringIO(march.cli(*MARCH, "--csv").stdout)))
    answer = march.answer(*MARCH)["statement"]

    assert {row["schedule"]: int(row["demanded"]) for row in rows} == {
        each["name"]: each["totals"]["demanded"] for each in answer["schedules"]
    }
    assert [row["backfill"] for row in rows] == ["0", "3", "0"]
    slots = list(csv.DictReader(io.StringIO(march.cli(*MARCH, "--csv", "--slots").stdout)))
    assert sum(int(row["slots"]) for row in slots) == answer["totals"]["demanded"]
    assert not [cell for row in slots for cell in row.values() if cell.startswith(("=", "+", "@"))]


class Page(HTMLParser):
    """The tags of a page, and what its attributes refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href", "onclick", "style")]


def test_the_page_is_one_file_without_scripts_or_requests(march: Shop, tmp_path: Path) -> None:
    path = tmp_path / "march.html"
    result = march.cli(*MARCH, "--html", str(path))
    assert result.exit_code == 0, result.stderr
    assert (result.stdout, "819 slots, 0 unexplained" in result.stderr) == ("", True)

    text = path.read_text()
    page = Page()
    page.feed(text)
    assert not {"script", "link", "img", "iframe", "b"} & set(page.tags)
    assert page.links == []
    assert "url(" not in text
    assert "&lt;b&gt;&quot;no bank&quot;&lt;/b&gt;" in text
    assert "hunter2" not in text
    for words in ("Every demanded slot is accounted for", march.app.engine.store.uuid, "signature"):
        assert words in text
    assert "Sun 1 Mar 2026 00:00 +01:00 to Wed 1 Apr 2026 00:00 +02:00" in text
    assert "migration" in text


def test_a_deleted_schedule_is_found_by_its_executions(march: Shop) -> None:
    before = march.answer(*MARCH, "-s", "bill")["statement"]["schedules"]
    march.app.schedule("bill").delete()

    [found] = march.answer(*MARCH, "-s", "bill")["statement"]["schedules"]

    assert found["deleted"]
    assert found["totals"] == before[0]["totals"]
    assert found["notes"][0] == "Deleted since; found by its executions."
    assert march.cli("statement", "--month", "2025-01", "-s", "bill").exit_code == 0
    assert march.cli("statement", "--month", "2025-01", "-s", "never").exit_code == 4


def test_an_unexplained_slot_exits_with_1(march: Shop, tmp_path: Path) -> None:
    row = list(march.app.executions(schedule="bill", state="succeeded"))[5]
    connection = sqlite3.connect(tmp_path / "march.db")
    with connection:
        connection.execute("DELETE FROM sempre_executions WHERE id = ?", (row.id,))
    connection.close()

    result = march.cli(*MARCH, "-s", "bill")

    assert result.exit_code == 1
    assert "! 1 slot unexplained: demanded, and without a record." in result.stdout


def test_filters_choose_schedules(march: Shop) -> None:
    def names(*words: str) -> list[str]:
        found = march.answer(*MARCH, *words)["statement"]["schedules"]
        return [each["name"] for each in found]

    assert names("--tag", "money") == names("--job", "bill") == names("-s", "bill") == ["bill"]
    assert names("--tag", "none") == []


def test_the_zone_of_one_schedule_is_the_zone_of_its_calendar(march: Shop) -> None:
    answer = march.answer("statement", "--month", "2026-03", "-s", "bill")["statement"]
    assert answer["zone"] == "Europe/Rome"
    assert march.answer("statement", "--month", "2026-03")["statement"]["zone"] == "UTC"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--month", "2026-13"], 2, "month"),
        (["--month", "2026-03", "--csv", "--json"], 2, "exclude each other"),
        (["--month", "2026-03", "--html", "x", "--slots"], 2, "exclude each other"),
        (["--month", "2026-03", "--zone", "Europe/Room"], 2, "Europe/Rome"),
        (["--month", "2026-03", "--late", "soon"], 2, "late"),
        (["--month", "2026-03", "-s", "bil"], 4, "no schedule"),
        (["--month", "2026-03", "--html", "no/such/folder.html"], 2, "cannot be written"),
        ([], 2, "--month"),
    ],
)
def test_a_mistake_is_refused_with_its_exit_code(
    march: Shop, words: list[str], code: int, text: str
) -> None:
    result = march.cli("statement", *words)

    assert result.exit_code == code
    assert text in result.stderr
