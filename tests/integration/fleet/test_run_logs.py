"""The log of a run outlives its worker: up to the last heartbeat, and whole after a stop."""

from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from sempre.ports.store import Store
from sempre.testing.polling import eventually
from sempre.urls import open_store
from tests.integration.fleet.crew import Fleet, fleet_on
from tests.integration.fleet.effects import Effects, read_log
from tests.integration.fleet.pairings import pairing_on

LONG = pytest.mark.long
STORES = [
    "sqlite",
    *(pytest.param(each, marks=LONG) for each in ("postgresql", "mariadb", "redis")),
]


def messages(store: Store, fleet: Fleet) -> list[str]:
    """Return what the first run of each line has logged, without times."""
    ids = {each["schedule"]: each["id"] for each in reversed(read_log(fleet.folder))}
    logs = [log for identity in ids.values() for log in store.run_logs(identity).value]
    return sorted(log.text.partition("Z ")[2] for log in logs)


def lines(fleet: Fleet) -> list[str]:
    return sorted(f"INFO gate: {line.name} waits" for line in fleet.lines)


@pytest.mark.parametrize("kind", STORES)
def test_a_killed_worker_leaves_the_log_up_to_its_last_heartbeat(kind: str, tmp_path: Path) -> None:
    """In a thread, on the event loop and in a child process."""
    with (
        pairing_on(f"{kind}+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="held") as fleet,
    ):
        [member] = fleet.join()
        store = open_store(pairing.store)
        eventually(lambda: messages(store, fleet) == lines(fleet), otherwise=fleet.outputs)

        member.send_all(SIGKILL)
        member.wait()

        assert messages(store, fleet) == lines(fleet)
        store.close()


def test_a_stopped_worker_leaves_the_whole_log_of_runs_that_it_cuts_off(tmp_path: Path) -> None:
    """No heartbeat has stored it before."""
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(
            pairing, tmp_path, rota="held", settings={"drain": "1s", "lease": "1h", "beat": "10m"}
        ) as fleet,
    ):
        [member] = fleet.join()
        eventually(lambda: len(read_log(tmp_path)) == len(fleet.lines), otherwise=fleet.outputs)

        member.send(SIGTERM)

        assert member.wait() == 0
        store = open_store(pairing.store)
        assert messages(store, fleet) == lines(fleet)
        store.close()


def test_a_run_that_ends_has_its_whole_log(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="held", settings={"lease": "1h", "beat": "10m"}) as fleet,
    ):
        [member] = fleet.join()
        eventually(lambda: len(read_log(tmp_path)) == len(fleet.lines), otherwise=fleet.outputs)
        Effects(tmp_path).gate.touch()

        member.send(SIGTERM)

        assert member.wait() == 0
        store = open_store(pairing.store)
        assert messages(store, fleet) == lines(fleet)
        store.close()
