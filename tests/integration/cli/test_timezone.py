"""What is typed without a zone is told by the clocks of the application, in every command."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from tests.unit.cli.commands import sempre

APP = """
from sempre import Sempre

app = Sempre("sqlite:///jobs.db", timezone="Europe/Rome")

@app.cron("0 9 * * *")
def zoned_bill() -> None: ...
"""
NINE = "2040-01-02T08:00:00Z"
"""09:00 in Rome."""


@pytest.fixture(autouse=True)
def _app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zoned_jobs.py").write_text(APP)
    monkeypatch.syspath_prepend(str(tmp_path))
    app = import_module("zoned_jobs").app
    app.sync()
    app.close()


def answer(*words: str, **environment: str) -> str:
    """Run a command, pointed at the application or told its zone and store; return its answer."""
    result = sempre(*words, "--json", **environment)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "environment",
    [
        {"SEMPRE_APP": "zoned_jobs"},
        {"SEMPRE_STORE": "sqlite:///jobs.db", "SEMPRE_TIMEZONE": "Europe/Rome"},
    ],
    ids=["app", "settings"],
)
def test_every_command_reads_instants_by_the_clocks_of_the_application(
    environment: dict[str, str],
) -> None:
    slot, day = "2040-01-02 09:00", ("2040-01-02 08:30", "2040-01-02 09:00")

    assert f'"{NINE}"' in answer("next", "zoned_bill", "--between", *day, **environment)
    assert NINE in answer("skip", "zoned_bill", "--at", slot, **environment)
    assert NINE in answer("unskip", "zoned_bill", "--at", slot, **environment)
    paused = answer("pause", "zoned_bill", "--until", slot, **environment)
    assert f'"next_run_at": "{NINE}"' in paused
    listed = json.loads(answer("executions", "--since", slot, "--until", slot, **environment))
    assert {row["run_at"] for row in listed["executions"]} == {NINE}


def test_simulate_and_preview_go_by_the_clocks_too() -> None:
    simulated = answer(
        *("simulate", "--from", "2040-01-02 08:30", "--to", "2040-01-02 09:30"),
        SEMPRE_APP="zoned_jobs",
    )
    previewed = answer(
        *("preview", "0 9 * * *", "-n", "1", "--after", "2040-01-02 08:30"),
        SEMPRE_TIMEZONE="Europe/Rome",
    )

    assert NINE in simulated
    assert f'"times": ["{NINE}"]' in previewed
