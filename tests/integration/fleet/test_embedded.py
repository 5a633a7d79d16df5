"""A worker inside a process that is not ours: it takes no work that it cannot do there."""

from pathlib import Path
from threading import Event, Thread

import pytest

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import QUICK, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.program import application


@pytest.mark.long
def test_jobs_that_want_a_process_are_left_to_others_where_none_can_be_forked(
    tmp_path: Path,
) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="alpha") as fleet,
    ):
        told = {"store": pairing.store, "broker": pairing.broker, "settings": QUICK}
        app = application(tmp_path, told | {"rota": "alpha"})
        over = Event()
        another = Thread(target=over.wait)
        another.start()

        with app.running():
            fleet.wait_for_first()
            eventually(lambda: len(read_log(tmp_path)) > 6)
        app.close()
        over.set()
        another.join()
        alone = read_log(tmp_path)
        fleet.join()
        until = fleet.wait_for_slots(3.0)

        fleet.part()
        assert {each["schedule"] for each in alone} == {"alpha-line"}
        assert not fleet.finding(until).lost
