"""An idle worker of another process starts what this process places, with the store as broker.

The worker's heartbeats and sweeps are hours apart: only a wake-up can be the cause of a start.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from sempre import Every
from sempre.testing.polling import eventually
from tests.contract.test_pgbouncer import PORT, bouncer_before
from tests.integration.brokers.idle_worker import Marking
from tests.integration.fleet.pairings import STORES, Pairing, pairing_on
from tests.integration.sql.postgresql_server import running_postgresql

PROGRAM = "tests.integration.brokers.idle_worker"


@contextmanager
def on_postgresql(folder: Path) -> Iterator[tuple[Pairing, Marking]]:
    """Run a server of its own and a worker on it."""
    with (
        pairing_on("postgresql+store", folder) as pairing,
        idle_worker(pairing.store, folder / "marks") as here,
    ):
        eventually(lambda: listeners(pairing))
        yield pairing, here


@contextmanager
def idle_worker(store: str, marks: Path, broker: str = "store://") -> Iterator[Marking]:
    """Run a worker process, and yield its application in this process once the worker is idle."""
    command = [sys.executable, "-m", PROGRAM, store, broker, str(marks)]
    here = Marking.on(store, broker, marks)
    with subprocess.Popen(command) as process:
        try:
            start(here)
            yield here
        finally:
            process.terminate()
            process.wait()
            here.app.close()


def start(here: Marking, word: str = "") -> None:
    """Enqueue a run, and wait until the worker has begun it."""
    word = word or str(uuid4())
    here.mark.enqueue(word)
    eventually(lambda: here.count(word))


@pytest.fixture(params=STORES, scope="module")
def pairing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pairing]:
    with pairing_on(f"{request.param}+store", tmp_path_factory.mktemp("store")) as running:
        yield running


@pytest.fixture(scope="module")
def here(pairing: Pairing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    with idle_worker(pairing.store, tmp_path_factory.mktemp("marks") / "marks") as marking:
        yield marking


def test_an_enqueue_starts(here: Marking) -> None:
    for _ in range(3):
        start(here)


def test_the_slots_of_a_new_schedule_start(here: Marking) -> None:
    here.app.create_schedules([("seconds", Every("1s"), here.mark.bind("slot"))])

    eventually(lambda: here.count("slot") >= 2)
    here.app.schedule("seconds").delete()


def test_a_triggered_run_starts(here: Marking) -> None:
    here.app.create_schedules([("yearly", Every("1 year"), here.mark.bind("triggered"))])

    here.app.schedule("yearly").trigger()

    eventually(lambda: here.count("triggered"))


def test_a_run_that_a_switch_held_starts_when_the_switch_is_on(here: Marking) -> None:
    switch = here.app.switch(here.mark)
    switch.off("a test", mode="hold")
    here.mark.enqueue("held")

    switch.on()

    eventually(lambda: here.count("held"))


def test_a_run_that_becomes_due_later_starts(here: Marking) -> None:
    here.mark.options(delay="1s").enqueue("later")

    eventually(lambda: here.count("later"))


def test_a_worker_whose_connection_was_cut_is_woken_again(tmp_path: Path) -> None:
    with on_postgresql(tmp_path) as (pairing, here):
        assert cut_listeners(pairing)
        start(here)
        eventually(lambda: listeners(pairing))
        start(here)


def listeners(pairing: Pairing) -> int:
    """Return how many connections of the server listen."""
    return asked(pairing, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")


def cut_listeners(pairing: Pairing) -> int:
    """End the connections that listen; return how many."""
    ended = "count(*) FILTER (WHERE pg_terminate_backend(pid))"
    return asked(pairing, f"SELECT {ended} FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")  # noqa: S608 - of the lines above


def asked(pairing: Pairing, query: str) -> int:
    conninfo = pairing.store.partition("&schema")[0]
    with psycopg.connect(conninfo, autocommit=True) as connection:
        [(count,)] = connection.execute(query).fetchall()
        return int(count)


def test_a_worker_behind_a_transaction_pooler_starts_an_enqueue(tmp_path: Path) -> None:
    """LISTEN cannot work there: the worker queries for what others enqueue."""
    with running_postgresql() as server, bouncer_before(server.conninfo):
        store = f"postgresql://postgres@/postgres?host={server.folder}&port={PORT}"
        with idle_worker(store, tmp_path / "marks") as here:
            for _ in range(3):
                start(here)


def test_an_enqueue_in_a_raw_transaction_starts_at_its_commit(tmp_path: Path) -> None:
    """Nothing in this process hears of that commit: PostgreSQL itself wakes the worker."""
    with (
        on_postgresql(tmp_path) as (pairing, here),
        psycopg.connect(pairing.store.partition("&schema")[0]) as connection,
    ):
        connection.execute("SELECT 1")
        here.mark.options(tx=connection).enqueue("committed")
        connection.commit()

        eventually(lambda: here.count("committed"))


def test_an_embedded_worker_that_has_ended_listens_no_longer(tmp_path: Path) -> None:
    """Its host goes on, and would never read what the server keeps for it."""
    with pairing_on("postgresql+store", tmp_path) as pairing:
        here = Marking.on(pairing.store, "store://", tmp_path / "marks")
        with here.app.running():
            eventually(lambda: listeners(pairing))

        eventually(lambda: listeners(pairing) == 0)
        here.app.close()
