"""Fleets that come back: what was due while nobody worked runs once, then they are in the present.

Allora's promise: due at midnight, stopped at 23:59, started again at 00:01, the midnight job still
runs. With `catch_up=True` every slot runs, in order.
"""

from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

import pytest

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import STORES, pairing_on
from tests.integration.fleet.rota import Line

AWAY = 4.0
# Of the lines of the rota that do not catch up: what is no later than this still runs.
TOLERANCE = 1.0
LONG = pytest.mark.long


def ended(fleet: Fleet, line: Line) -> list[float]:
    """Return the slots of a line in the order of their ends."""
    log = read_log(fleet.folder)
    return [each["slot"] for each in log if each["what"] == "end" and each["schedule"] == line.name]


def wait_for_slots_after(fleet: Fleet, instant: float) -> None:
    """Wait until every line has run a slot after an instant."""
    eventually(
        lambda: all(max(ended(fleet, line), default=0) > instant for line in fleet.lines),
        otherwise=fleet.outputs,
    )


@pytest.mark.parametrize(
    ("store", "how"),
    [
        ("sqlite", SIGTERM),
        *(pytest.param(each, SIGTERM, marks=LONG) for each in STORES if each != "sqlite"),
        *(pytest.param(each, SIGKILL, marks=LONG) for each in STORES),
    ],
)
def test_what_was_due_meanwhile_runs_once_and_then_it_is_back_in_the_present(
    store: str, how: Signals, tmp_path: Path
) -> None:
    with (
        pairing_on(f"{store}+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="present") as fleet,
    ):
        fleet.join(1)
        wait_for_slots_after(fleet, CLOCK.now().timestamp())
        fleet.part(how)
        before = {line.name: max(ended(fleet, line)) for line in fleet.lines}
        away_until = CLOCK.now().timestamp() + AWAY
        eventually(lambda: CLOCK.now().timestamp() > away_until)

        returned = CLOCK.now().timestamp()
        fleet.join(2)
        wait_for_slots_after(fleet, returned + 1)

        fleet.part()
        for line in fleet.lines:
            slots = [slot for slot in ended(fleet, line) if slot > before[line.name]]
            first = before[line.name] + line.seconds
            if line.policies.get("catch_up"):
                expected = list(line.slots(before[line.name], slots[-1]))
                assert list(dict.fromkeys(slots)) == expected
            else:
                assert slots[0] == first
                assert slots[1] > returned - TOLERANCE
                assert slots[1:] == list(line.slots(slots[1] - 1, slots[-1]))
