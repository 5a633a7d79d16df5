"""`sempre why` on a store in a file: slots, executions, terminals and refusals."""

from pathlib import Path

import pytest

from sempre import Sempre
from tests.integration.cli.schema import check
from tests.integration.cli.shop import Shop, lines
from tests.integration.cli.terminal import on_terminal

WIDTH = 80


@pytest.fixture(autouse=True)
def _ann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")


def test_a_future_slot_is_explained_in_the_zone_of_its_schedule(shop: Shop) -> None:
    first, *causes = lines(shop.cli("why", "leap@2028-02-29T03:00"))

    assert first.startswith("leap@Tue 29 Feb 2028 03:00 +01:00 is still to come and will run")
    assert any(
        "The slot is on the grid: 03:00 on 29 February, Europe/Rome" in each for each in causes
    )


def test_an_offset_wins_over_the_zone_of_the_schedule(shop: Shop) -> None:
    answer = shop.answer("why", "leap@2028-02-29T02:00Z")["why"]

    assert answer["slot"] == "2028-02-29T02:00:00Z"
    assert answer["verdict"] == "will_run"


def test_a_skip_names_the_operator_and_the_note(shop: Shop) -> None:
    shop.cli("skip", "leap", "--at", "2028-02-29T02:00Z", "-m", "migration")

    text = shop.cli("why", "leap@2028-02-29T03:00").stdout

    assert "was skipped" in text
    assert 'by ann: "migration"' in text


def test_a_failure_is_explained_by_the_beginning_of_its_id(shop: Shop) -> None:
    [failed] = shop.run("doomed")

    answer = check("why", shop.cli("why", failed[:-1], "--json").stdout)["why"]

    assert answer["execution"] == failed
    codes = [each["code"] for each in answer["causes"]]
    assert codes == ["triggered", "attempt_failed", "not_retried"]
    assert "no such region" in answer["causes"][1]["sentence"]


def test_a_retry_by_an_operator_is_told_with_its_note(shop: Shop) -> None:
    [failed] = shop.run("doomed")
    shop.cli("retry", failed, "-m", "the region is back")
    shop.work()

    text = shop.cli("why", failed).stdout

    assert 'The execution was retried by ann: "the region is back".' in text
    assert "Attempt 2" in text


def test_a_discard_and_a_cancel_are_told_with_their_notes(shop: Shop) -> None:
    [failed] = shop.run("doomed")
    shop.cli("discard", failed, "-m", "hopeless")

    assert 'discarded by ann: "hopeless"' in shop.cli("why", failed).stdout


def test_a_deleted_schedule_names_who_deleted_it(shop: Shop) -> None:
    [ran] = shop.run("leap")
    shop.cli("delete", "leap", "--yes", "-m", "obsolete")

    assert 'deleted by ann: "obsolete"' in shop.cli("why", "leap@2028-02-29T03:00").stdout
    assert "succeeded" in shop.cli("why", ran).stdout


def test_secrets_in_notes_are_masked(shop: Shop) -> None:
    shop.cli("pause", "leap", "-m", "password=hunter2")

    result = shop.cli("why", "leap@2028-02-29T03:00")

    assert "hunter2" not in result.stdout
    assert "hunter2" not in shop.cli("why", "leap@2028-02-29T03:00", "--json").stdout


def test_unknown_names_and_times_are_refused(shop: Shop) -> None:
    assert shop.cli("why", "leop@2028-02-29T03:00").exit_code == 4
    assert shop.cli("why", "ffffffff").exit_code == 4
    assert shop.cli("why", "leap@tomorrow").exit_code == 2
    assert shop.cli("why", "@2028-02-29").exit_code == 2


def test_the_answer_fits_a_terminal(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with_one_schedule(url)

    answer = on_terminal(tmp_path, "why", "bill@2026-03-29T02:30", SEMPRE_STORE=url, columns=WIDTH)

    assert max(map(len, answer.lines)) <= WIDTH
    assert answer.lines[1].startswith("- The slot is on the grid")


def with_one_schedule(url: str) -> None:
    app = Sempre(url)
    app.cron("30 2 * * *", name="bill", timezone="Europe/Rome")(lambda: None)
    app.sync()
    app.close()
