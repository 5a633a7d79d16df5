"""Two applications on one store and queue: each leaves alone what only the other one knows."""

from pathlib import Path

import pytest

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import PAIRINGS, pairing_on
from tests.integration.fleet.rota import ROTAS

QUICK = "sqlite+store"


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each == QUICK else pytest.mark.long) for each in PAIRINGS],
)
def test_unknown_jobs_are_left_to_those_that_know_them(name: str, tmp_path: Path) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="alpha") as fleet,
    ):
        fleet.lines = [*ROTAS["alpha"], *ROTAS["beta"]]
        [alpha] = fleet.join(1)
        [beta] = fleet.join(1, rota="beta")
        eventually(lambda: {each["schedule"] for each in read_log(tmp_path)} == names())
        fleet.wait_for_slots(3.0)

        # While those are away who know it, its slots wait.
        beta.interrupt()
        beta.wait()
        away_until = CLOCK.now().timestamp() + 3
        eventually(lambda: CLOCK.now().timestamp() > away_until)
        meanwhile = read_log(tmp_path)
        [other] = fleet.join(1, rota="beta")
        until = fleet.wait_for_slots(2.0)

        ours = {each.pid for each in alpha.processes}
        fleet.part()
        finding, log = fleet.finding(until), read_log(tmp_path)
        assert not finding.lost
        assert not finding.duplicated
        assert not finding.early
        assert {each["attempt"] for each in log} == {1}
        assert not ours & {each["pid"] for each in log if each["schedule"] == "beta-line"}
        assert meanwhile[-1]["schedule"] != "beta-line"
        assert "Traceback" not in alpha.output + beta.output + other.output


def names() -> set[str]:
    return {line.name for rota in ("alpha", "beta") for line in ROTAS[rota]}
