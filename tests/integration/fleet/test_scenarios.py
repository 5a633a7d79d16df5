"""Fleets among clocks that are wrong, links that fall silent, edits and crowds.

What each scenario has to keep is the same as in `test_faults`: nothing lost, nothing early, no
guarded effect twice. `scenarios.toml` tells which scenario of the plan is where.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from sempre.testing.polling import eventually
from tests.contract.test_pgbouncer import PORT, bouncer_before
from tests.integration.fleet.crew import CLOCK, Fleet, Member, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import Pairing, pairing_on
from tests.integration.fleet.processes import cpu_seconds, peak_mebibytes
from tests.integration.fleet.reporting import report
from tests.integration.proxy import Silence, proxy_before
from tests.integration.sql.postgresql_server import running_postgresql

Record = Callable[[str, object], None]
LONG = pytest.mark.long
LEASE = 3.0
# So much of a core a worker may use that has no broker and little to do; one that spins uses all.
BUSY = 0.5


def everything_was_done(
    fleet: Fleet, until: float, scenario: str, record: Record, *, twice: int = 0
) -> None:
    finding = fleet.finding(until)
    record("fleet", report(fleet, scenario, finding))
    assert not finding.lost
    assert not finding.early
    assert not finding.unguarded
    assert not finding.doubled
    assert max(finding.duplicated.values(), default=0) <= twice


def pass_time(seconds: float) -> None:
    until = CLOCK.elapsed() + seconds
    eventually(lambda: CLOCK.elapsed() > until)


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("redis+redis", 4.0),
        *(
            pytest.param(name, 15.0, marks=LONG)
            for name in (
                "postgresql+beanstalkd",
                "postgresql+listen",
                "mariadb+store",
                "redis+redis",
            )
        ),
    ],
)
def test_workers_whose_clocks_are_set_forth_and_back_start_nothing_early_or_twice(
    name: str, seconds: float, tmp_path: Path, record_property: Record
) -> None:
    """By a minute and a half, every few seconds; the store's clock decides."""
    with pairing_on(name, tmp_path) as pairing, fleet_on(pairing, tmp_path) as fleet:
        fleet.join(1)
        fleet.join(2, swings=90)

        until = fleet.wait_for_slots(seconds)

        fleet.part()
        everything_was_done(fleet, until, "clocks set", record_property)


@LONG
def test_a_member_whose_link_to_the_store_falls_silent_gives_up_and_comes_back(
    tmp_path: Path, record_property: Record
) -> None:
    """For three leases; others take its work, and it runs none of it meanwhile."""
    with (
        pairing_on("postgresql+store", tmp_path) as pairing,
        proxy_before(socket_of(pairing.store)) as proxy,
        fleet_on(pairing, tmp_path, rota="busy") as fleet,
    ):
        link = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?schema=store"
        fleet.join(2)
        [cut_off] = fleet.join(1, store=link)
        wait_for_start_of(fleet, cut_off)
        eventually(lambda: fleet.member_of(fleet.wait_for_running()["pid"]) is cut_off)

        silent = Silence()
        proxy.obey(silent)
        pass_time(LEASE)
        deaf_since = CLOCK.now().timestamp()
        pass_time(2 * LEASE)
        begun = starts_of(fleet, cut_off, deaf_since)
        fleet.wait_for_slots(1.0)
        proxy.recover()
        fleet.healed()
        wait_for_start_of(fleet, cut_off, after=CLOCK.now().timestamp())
        until = fleet.wait_for_slots(2.0)

        fleet.part()
        assert silent.fired.is_set()
        assert begun == []
        everything_was_done(fleet, until, "silent link", record_property, twice=1)


def socket_of(store: str) -> str:
    folder = store.partition("host=")[2].partition("&")[0]
    [socket] = [path for path in Path(folder).glob(".s.PGSQL.*") if path.suffix != ".lock"]
    return str(socket)


def starts_of(fleet: Fleet, member: Member, after: float) -> list[float]:
    """Return when the processes that a member has now began runs after an instant."""
    pids = {each.pid for each in member.processes}
    log = read_log(fleet.folder)
    starts = [each for each in log if each["what"] == "start" and each["pid"] in pids]
    return [each["at"] for each in starts if each["at"] > after]


def wait_for_start_of(fleet: Fleet, member: Member, after: float = 0.0) -> None:
    eventually(lambda: starts_of(fleet, member, after), otherwise=fleet.outputs)


@LONG
@pytest.mark.parametrize(
    "name", ["postgresql+beanstalkd", "postgresql+redis", "mariadb+beanstalkd"]
)
def test_workers_whose_broker_is_away_look_for_work_themselves_and_do_not_spin(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="memory") as fleet,
    ):
        members = fleet.join(2)
        fleet.wait_for_slots(1.0)
        assert pairing.messenger is not None

        pairing.messenger.kill()
        pids = [each.pid for member in members for each in member.processes]
        before, since = cpu_seconds(pids), CLOCK.elapsed()
        fleet.wait_for_slots(20.0)
        used = (cpu_seconds(pids) - before) / (CLOCK.elapsed() - since)
        pairing.messenger.start()
        fleet.healed()
        until = fleet.wait_for_slots(3.0)

        fleet.part()
        print(f"{used / len(members):.2f} of a core for each member")  # noqa: T201 - shown by -rP
        assert used < BUSY * len(members)
        everything_was_done(fleet, until, "broker away", record_property)


@LONG
def test_a_pool_of_two_connections_behind_pgbouncer_is_enough_for_fifty_schedules(
    tmp_path: Path, record_property: Record
) -> None:
    """Of each process; nobody loses a lease for want of one."""
    with running_postgresql() as server, bouncer_before(server.conninfo):
        place = f"host={server.folder}&port={PORT}&schema=crowd&connections=2"
        url = f"postgresql://postgres@/postgres?{place}"
        pairing = Pairing("postgresql+store", url, "store://", server, None, lambda: None)
        with fleet_on(pairing, tmp_path, rota="crowd") as fleet:
            fleet.join(2)
            fleet.wait_for_first()

            until = fleet.wait_for_slots(15.0)

            fleet.part()
            everything_was_done(fleet, until, "small pools", record_property)
            assert "session.lost" not in fleet.outputs()


@LONG
@pytest.mark.parametrize("name", ["postgresql+beanstalkd", "redis+redis"])
def test_five_thousand_schedules_of_the_same_second_run_once_each(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    with pairing_on(name, tmp_path) as pairing, fleet_on(pairing, tmp_path, rota="herd") as fleet:
        members = fleet.join(2)
        fleet.wait_for_first()
        # To judge so many takes a while: it begins when the next minute has.
        pass_time(60.0)
        until = fleet.wait_for_slots(2.0)
        pids = [each.pid for member in members for each in member.processes]
        largest = max(map(peak_mebibytes, pids))
        print(f"the largest process had {largest:.0f} MiB")  # noqa: T201 - shown by pytest -rP

        fleet.part()
        everything_was_done(fleet, until, "herd of 5000", record_property)
