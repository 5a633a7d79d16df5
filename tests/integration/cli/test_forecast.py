"""`sempre forecast` on a store: the table, `--json`, the drawing, and what is counted."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sempre import Cron, Every
from sempre.app.forecast.reading import Chosen, read_recurrences
from sempre.ports.retention import Purge
from tests.integration.cli.schema import check
from tests.integration.cli.shop import Shop, lines
from tests.integration.cli.terminal import on_terminal

FROM = ("--from", "2027-03-22", "--for", "7d")


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """The shop with twenty schedules that start together at night."""

    @shop.app.job(queue="reports")
    def report() -> None: ...

    for number in range(20):
        shop.app.put_schedule(
            f"tenant-{number:02}", Cron("0 2 * * *", timezone="Europe/Rome"), report, tags=["night"]
        )
    return shop


def forecast(shop: Shop, *options: str) -> Any:  # noqa: ANN401 - JSON
    return shop.answer("forecast", *FROM, *options)


def test_the_table_shows_peaks_hours_collisions_and_suggestions(busy: Shop) -> None:
    shown = lines(busy.cli("forecast", *FROM, "--tag", "night", "--zone", "Europe/Rome"))

    assert shown[0].startswith("140 starts of 20 schedules from Mon 22 Mar 2027 00:00 +01:00 to")
    assert shown[1] == "peak: 20 in flight by p95 durations, 20 by p50."
    assert shown[2] == "durations of schedules: 20 assumed (10s)."
    assert "Mon 22 Mar 2027 02:00 +01:00  6      20      20   20" in shown
    # On Sunday the clocks of Rome skip 02:00.
    assert "Sun 28 Mar 2027 03:00 +02:00  1      20      20   20" in shown
    assert "Tue 23 Mar . . # . . . . . . . . . . . . . . . . . . . . ." in shown
    assert "Sun 28 Mar . .   # . . . . . . . . . . . . . . . . . . . ." in shown
    assert "  sempre edit tenant-00 --jitter 5m" in shown
    assert "  and likewise for 17 schedules more (--json lists all)" in shown


def test_no_line_is_wider_than_a_terminal_of_80_columns(busy: Shop, tmp_path: Path) -> None:
    where = ("--zone", "Europe/Rome", "--store", busy.url)

    answer = on_terminal(tmp_path, "forecast", *FROM, *where)

    assert max(map(len, answer.lines)) <= 80
    assert "times: Europe/Rome (--utc)" in answer.stderr


def test_json_keeps_the_schema_and_has_every_minute(busy: Shop) -> None:
    result = busy.cli("forecast", *FROM, "--tag", "night", "--json", "--capacity", "5")

    answer = check("forecast", result.stdout)
    assert answer["timezone"] == "UTC"
    assert len(answer["minutes"]["p95"]) == 7 * 1440
    assert sum(answer["minutes"]["starts"]) == answer["starts"]
    assert answer["capacity"] == 5
    assert answer["minutes_over_capacity"] == 7
    [first, *_] = answer["suggestions"]
    assert len(first["names"]) == 20
    assert first["peak_after"] < first["peak_before"] == 20


def test_a_suggested_command_can_be_typed_and_does_what_it_says(busy: Shop) -> None:
    [first, *_] = forecast(busy, "--tag", "night")["suggestions"]

    for name in first["names"]:
        lines(busy.cli("edit", name, *first["options"]))

    assert forecast(busy, "--tag", "night")["peak"]["p95"] == first["peak_after"]


def test_filters_choose_schedules(busy: Shop) -> None:
    assert forecast(busy, "--tag", "night")["schedules"] == 20
    assert forecast(busy, "--queue", "reports")["schedules"] == 20
    assert forecast(busy, "--queue", "default")["schedules"] == 3
    assert forecast(busy, "--job", "leap")["schedules"] == 2
    assert forecast(busy)["schedules"] == 23


def test_schedules_that_will_not_run_are_not_counted(busy: Shop) -> None:
    lines(busy.cli("pause", "tenant-00"))
    lines(busy.cli("disable", "tenant-01"))
    lines(busy.cli("delete", "tenant-02", "--yes"))
    lines(busy.cli("pause", "tenant-03", "--until", "2027-03-25T00:00Z"))
    lines(busy.cli("edit", "tenant-04", "--until", "2027-03-23T00:00Z"))

    found = forecast(busy, "--tag", "night")

    assert found["schedules"] == 17
    assert found["starts"] == 15 * 7 + 4 + 1


def test_a_switch_that_is_off_stops_its_schedules_until_it_is_on(busy: Shop) -> None:
    busy.app.switch("job:report").off("incident", until="1h")
    assert forecast(busy, "--tag", "night")["schedules"] == 20

    busy.app.switch("job:report").off("incident")
    assert forecast(busy, "--tag", "night")["schedules"] == 0


def test_durations_come_from_past_runs_then_from_the_job_then_from_an_assumption(
    busy: Shop,
) -> None:
    busy.run("tenant-00", "tenant-00")

    found = read_recurrences(busy.app.engine, Chosen())

    origins = {each.name: each.durations.origin for each in found}
    assert origins["tenant-00"] == "schedule"
    assert origins["tenant-01"] == "job"
    assert origins["doomed"] == "default"
    [own] = [each.durations for each in found if each.name == "tenant-00"]
    assert own.runs == 2
    assert timedelta(0) <= own.p50 <= own.p95 < timedelta(seconds=10)


def test_durations_of_purged_runs_are_their_average(busy: Shop) -> None:
    busy.run("tenant-00")
    engine = busy.app.engine
    later = engine.present() + timedelta(hours=1)
    engine.store.purge(Purge(before=later, limit=100, retention="any", keep=0))

    found = read_recurrences(engine, Chosen(tag="night"))

    origins = [each.durations.origin for each in found]
    assert origins == ["daily counts", *["default"] * 19]
    assert found[0].durations.runs == 1


def test_a_limit_of_starts_ends_a_schedule(shop: Shop) -> None:
    @shop.app.job
    def few() -> None: ...

    shop.app.put_schedule("few", Every("1h"), few, limit=3)

    assert shop.answer("forecast", "--job", "few", "--for", "2d")["starts"] == 3


def test_the_drawing_is_written_to_a_file(busy: Shop, tmp_path: Path) -> None:
    path = tmp_path / "load.svg"

    result = busy.cli("forecast", *FROM, "--svg", str(path), "--zone", "Asia/Tokyo")

    root = ET.parse(path).getroot()  # noqa: S314 - drawn here
    assert result.stderr.startswith(f"wrote {path}\n")
    assert any(each.text == "times: Asia/Tokyo" for each in root.iter())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--for", "32d"), 2, "1m to 31d"),
        (("--for", "soon"), 2, "for"),
        (("--zone", "Europe/Roma"), 2, "Europe/Rome"),
        (("--from", "yesterday"), 2, "from"),
        (("--svg", "/nowhere/at/all.svg"), 2, "cannot write /nowhere/at/all.svg"),
    ],
)
def test_what_cannot_be_read_is_refused(
    shop: Shop, options: tuple[str, ...], code: int, message: str
) -> None:
    result = shop.cli("forecast", *options)

    assert result.exit_code == code
    assert message in result.stderr


def test_the_window_begins_at_the_minute_of_the_store(shop: Shop) -> None:
    before = shop.app.engine.present()

    found = shop.app.forecast(length="1h")

    assert timedelta(0) <= before - found.window.start + timedelta(minutes=1) < timedelta(minutes=3)
    assert found.window.minutes == 60
