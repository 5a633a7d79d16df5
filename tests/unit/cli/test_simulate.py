import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.unit.cli.commands import sempre

JOBS = """
from sempre import Sempre

app = Sempre("sqlite:////nowhere/at/all.db")

@app.every("12h")
def refresh() -> None:
    raise AssertionError("called")

@app.cron("30 2 * * *", timezone="Europe/Rome")
def report() -> None:
    raise AssertionError("called")

app.add("slow", app.declarations.schedules["refresh"].definition.grid, report, overlap="wait")
"""

GAP = "02:30 does not exist on the day the clock goes forward; it runs at 03:00 then."


@pytest.fixture(autouse=True)
def _jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "simulated_jobs.py").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "simulated_jobs", raising=False)


def simulate(*options: str) -> Result:
    return sempre("simulate", "simulated_jobs", *options)


def answer(*options: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(simulate(*options, "--json").stdout)


def test_starts_are_shown_in_order_each_in_its_own_zone_with_clock_changes() -> None:
    result = simulate("--from", "2026-03-29", "--to", "2026-03-29T12:00Z")

    assert result.exit_code == 0, result.stderr
    assert result.stderr == "using simulated_jobs:app (the command line)\n"
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["START", "NAME", "NOTE"]
    assert lines[3:] == [
        "Sun 29 Mar 03:00 +02:00  report   the clock goes forward today",
        "Sun 29 Mar 12:00 UTC     refresh",
        "Sun 29 Mar 12:00 UTC     slow",
        "5 starts of 3 schedules from Sun 29 Mar 00:00 UTC to Sun 29 Mar 12:00 UTC.",
        "peak: 2 starts in the minute of Sun 29 Mar 00:00 UTC: refresh, slow.",
        "clock: Europe/Rome goes forward by 60m to Sun 29 Mar 03:00 +02:00.",
        f"note: report: {GAP}",
    ]


def test_an_instant_without_a_zone_is_told_by_the_clocks_that_are_named() -> None:
    told = answer("--from", "2026-10-25", "--to", "2026-10-26", "--tz", "Europe/Rome")

    assert (told["from"], told["to"]) == ("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z")
    assert told["clock_changes"] == [
        {"zone": "Europe/Rome", "at": "2026-10-25T01:00:00Z", "seconds": -3600.0}
    ]
    assert ["goes back" in note for note in told["notes"]] == [True]


def test_the_rest_of_a_long_timeline_is_counted() -> None:
    result = simulate("--from", "2026-05-01", "--to", "10d", "-n", "3")

    assert "... and 49 more; raise -n to show them." in result.stdout.splitlines()
    assert "52 starts of 3 schedules" in result.stdout
    told = answer("--from", "2026-05-01", "--to", "10d", "-n", "3")
    assert (len(told["slots"]), told["left_off"]) == (3, 49)
    assert told["starts"] == {"refresh": 21, "report": 10, "slow": 21}


def test_with_lengths_it_tells_what_overlaps_and_how_many_run_at_once() -> None:
    options = ("--from", "2026-05-01T01:00Z", "--to", "3d", "--takes", "slow=11h")
    told = answer(*options, "--takes", "report=1h")
    assert told["overlaps"] == []
    assert told["most_at_once"] == {"at": "2026-05-02T00:30:00Z", "count": 2, "names": []}

    result = simulate("--from", "2026-05-01T01:00Z", "--to", "1d", "--takes", "refresh=12h30m")
    assert "failed: error: timed out after 12h" in result.stdout


def test_slots_that_wait_or_are_skipped_are_told() -> None:
    text = Path("simulated_jobs.py").read_text().replace('"12h"', '"1h"')
    Path("simulated_jobs.py").write_text(text)
    options = ("--from", "2026-05-01T00:30Z", "--to", "4h", "--takes", "refresh=90m")

    result = simulate(*options, "--takes", "slow=80m")

    assert "overlap: refresh: 2 skipped." in result.stdout
    assert "overlap: slow: 2 waited, up to 40m." in result.stdout
    assert "Fri 1 May 02:20 UTC     slow     20m late" in result.stdout

    Path("simulated_jobs.py").write_text(text.replace('"wait"', '"allow"'))
    sys.modules.pop("simulated_jobs")
    told = answer(*options, "--takes", "slow=80m")
    assert [each for each in told["overlaps"] if each["name"] == "slow"] == [
        {"name": "slow", "skipped": 0, "waited": 0, "longest": 0.0, "beside": 3}
    ]


def test_schedules_of_sempres_own_are_shown_only_with_all() -> None:
    text = Path("simulated_jobs.py").read_text()
    alert = 'from sempre.alerts import Webhook\napp.alert(Webhook("https://example.com/hook"))\n'
    Path("simulated_jobs.py").write_text(text + alert)

    usual = answer("--from", "2026-05-01", "--to", "1d")
    every = answer("--from", "2026-05-01", "--to", "1d", "--all")

    assert set(usual["starts"]) == {"refresh", "report", "slow"}
    assert {each["schedule"] for each in usual["slots"]} == {"refresh", "report", "slow"}
    assert (usual["left_off"], usual["peak"]["count"]) == (0, 2)
    assert set(every["starts"]) - set(usual["starts"]) == {"sempre.alerts"}


def test_without_instants_it_shows_the_day_from_now() -> None:
    told = answer()

    assert told["starts"]["refresh"] in (2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--from", "2026-05-02", "--to", "2026-05-01"), "error: to:"),
        (("--from", "yesterday"), "error: from:"),
        (("--takes", "refresh"), "error: takes:"),
        (("--takes", "refresh=long"), "error: "),
        (("--tz", "Europe/Roma", "--from", "2026-05-01"), "error: timezone:"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(options: tuple[str, ...], message: str) -> None:
    result = simulate(*options)

    assert result.exit_code == 2
    assert message in result.stderr


def test_an_unknown_job_names_the_nearest() -> None:
    result = simulate("--takes", "refrehs=10m")

    assert result.exit_code == 4
    assert "Did you mean refresh?" in result.stderr
