"""The drill of the seed: whatever is dropped, lost or killed, every row is handled, and once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.fleet.crew import fleet_on
from tests.integration.fleet.pairings import pairing_on
from tests.integration.pairs.drill import Account, Drill

Record = Callable[[str, object], None]
PROGRAM = "tests.integration.pairs.program"
PAIRINGS = ("postgresql+beanstalkd", "postgresql+redis", "mariadb+redis")
QUICK = "postgresql+redis"


def drill(name: str, folder: Path, *, rows: int, rounds: int, fatal: list[int]) -> Account:
    """Let customers sign up in rounds, and harm everything in each of them."""
    told = {"program": PROGRAM, "fatal": fatal, "concurrency": 4}
    with (
        pairing_on(name, folder) as pairing,
        fleet_on(pairing, folder, rota="none", **told) as fleet,
    ):
        run = Drill(fleet, rows)
        fleet.join(2)
        for number in range(rounds):
            before, until = rows * number // rounds, rows * (number + 1) // rounds
            run.sign_up(range(before + 1, until + 1))
            run.wait_for(before + 1, until)

            def harm() -> None:
                run.flush()
                run.cancel_all()
                run.kill_member()

            run.recovered(harm, until)
        return run.finish(len(fatal))


def everything_is_handled_once(account: Account, record_property: Record) -> None:
    record_property("drill", account.row())
    assert account.handled == account.rows
    assert account.dropped == account.rows // 2
    assert account.twice == 0
    assert account.left == 0
    assert account.begun_again > 0


def test_dropped_enqueues_a_lost_queue_and_killed_workers_lose_no_row(
    tmp_path: Path, record_property: Record
) -> None:
    account = drill(QUICK, tmp_path, rows=150, rounds=1, fatal=[7])

    everything_is_handled_once(account, record_property)


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRINGS)
def test_dropped_enqueues_lost_queues_and_killed_workers_lose_no_row(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    account = drill(name, tmp_path, rows=600, rounds=3, fatal=[50, 250, 451])

    everything_is_handled_once(account, record_property)
