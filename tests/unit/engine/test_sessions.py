"""Sessions: who holds a lease is known by a random name, never by host and process."""

from tests.simulation.worlds import SmallWorld


def test_two_workers_of_one_process_on_one_host_are_two_sessions() -> None:
    world = SmallWorld(workers=2)

    world.pass_for(1)

    sessions = world.store.sessions().value
    assert len({each.id for each in sessions}) == 2
    assert len({(each.host, each.pid) for each in sessions}) == 1
    assert all(str(each.pid) not in each.id.split("-") for each in sessions)
