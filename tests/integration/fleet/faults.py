"""What can happen to a fleet; each fault ends with everything whole again, as far as it can be."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet, Member
from tests.integration.fleet.processes import Process, send
from tests.integration.redis.redis_server import RedisServer

__all__ = ["FAULTS"]

# Past the lease of three seconds, and two sweeps.
LONG = 6.0


def kill_worker(fleet: Fleet) -> None:
    """Kill a worker process in mid run; its supervisor starts another."""
    _, worker = _in_mid_run(fleet)
    send(worker.pid, SIGKILL)


def kill_all_processes(fleet: Fleet) -> None:
    """Kill a member in mid run with all its processes; another machine comes up."""
    member, _ = _in_mid_run(fleet)
    member.end()
    fleet.members.remove(member)
    fleet.join(1)


def kill_heartbeat_process(fleet: Fleet) -> None:
    """Kill the process that shows life for a worker in mid run."""
    member, worker = _in_mid_run(fleet)
    for process in member.heartbeat_processes(worker):
        send(process.pid, SIGKILL)


def kill_fork_server(fleet: Fleet) -> None:
    """Kill the process that forks a worker's children, while one of them runs."""
    member, worker = _in_mid_run(fleet, "process")
    for server in member.fork_servers(worker):
        send(server.pid, SIGKILL)


def kill_supervisor(fleet: Fleet) -> None:
    """Kill a supervisor in mid run, and nothing else; another machine comes up."""
    member, _ = _in_mid_run(fleet)
    member.send(SIGKILL)
    member.wait()
    fleet.members.remove(member)
    fleet.join(1)


def pause(fleet: Fleet) -> None:
    """Freeze a member in mid run, as a virtual machine is, until others have its work."""
    run = fleet.wait_for_running()
    member = fleet.member_of(run["pid"])
    if member is None:
        return
    member.send_all(SIGSTOP)
    try:
        _pass_time(LONG)
    finally:
        member.send_all(SIGCONT)


def pause_worker_alone(fleet: Fleet) -> None:
    """Freeze a worker process in mid run, whose heartbeat process goes on, past its lease."""
    _, worker = _in_mid_run(fleet)
    send(worker.pid, SIGSTOP)
    try:
        _pass_time(LONG)
    finally:
        send(worker.pid, SIGCONT)


def flush_broker(fleet: Fleet) -> None:
    """Let the broker forget everything, again and again."""
    for _ in range(5):
        fleet.pairing.flush()
        _pass_time(0.7)


def restart_broker(fleet: Fleet) -> None:
    """Kill the broker's server and start it again after a while."""
    assert fleet.pairing.messenger is not None
    fleet.pairing.messenger.kill()
    _pass_time(LONG)
    fleet.pairing.messenger.start()


def freeze_broker(fleet: Fleet) -> None:
    """Freeze the broker's server, which takes calls and answers none, and let it go on."""
    assert fleet.pairing.messenger is not None
    pid = fleet.pairing.messenger.pid
    send(pid, SIGSTOP)
    try:
        _pass_time(2 * LONG)
    finally:
        send(pid, SIGCONT)


def restart_database(fleet: Fleet) -> None:
    """Kill the store's server in mid run and start it again after leases are over."""
    assert fleet.pairing.database is not None
    fleet.wait_for_running()
    fleet.pairing.database.kill()
    _pass_time(LONG)
    fleet.pairing.database.start()


def blink_database(fleet: Fleet) -> None:
    """Kill the store's server in mid run and start it again at once."""
    assert fleet.pairing.database is not None
    fleet.wait_for_running()
    fleet.pairing.database.kill()
    fleet.pairing.database.start()


def refuse_writes(fleet: Fleet) -> None:
    """Let Redis have no memory left for writes, in mid run, for four leases."""
    server = fleet.pairing.database
    assert isinstance(server, RedisServer)
    fleet.wait_for_running()
    with server.client() as client:
        client.config_set("maxmemory", 1)
        try:
            _pass_time(2 * LONG)
        finally:
            client.config_set("maxmemory", 0)


def lock_file(fleet: Fleet) -> None:
    """Hold the lock of the SQLite file past every lease."""
    path = fleet.pairing.store.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        _pass_time(LONG)
        connection.execute("ROLLBACK")


def rolling_restart(fleet: Fleet) -> None:
    """Ask each member to end in mid run, and start another after it."""
    for member in list(fleet.members):
        eventually(lambda: member.workers)  # noqa: B023 - asked at once
        fleet.wait_for_running()
        member.send(SIGTERM)
        assert member.wait() == 0, member.output[-3000:]
        assert "Traceback" not in member.output
        fleet.members.remove(member)
        fleet.join(1)


def _in_mid_run(fleet: Fleet, *isolations: str) -> tuple[Member, Process]:
    """Wait for a run that is on its way; return where."""

    def look() -> tuple[Member, Process] | None:
        run = fleet.wait_for_running(*isolations)
        member = fleet.member_of(run["pid"])
        if member is None:
            return None
        for worker in member.workers:
            if run["pid"] in member.pids_below(worker):
                return member, worker
        return None

    return eventually(look)


def _pass_time(seconds: float) -> None:
    until = CLOCK.elapsed() + seconds
    eventually(lambda: CLOCK.elapsed() > until)


FAULTS: dict[str, Callable[[Fleet], None]] = {
    "kill worker": kill_worker,
    "kill member": kill_all_processes,
    "kill heartbeat process": kill_heartbeat_process,
    "kill fork server": kill_fork_server,
    "kill supervisor": kill_supervisor,
    "pause member": pause,
    "pause worker alone": pause_worker_alone,
    "flush broker": flush_broker,
    "restart broker": restart_broker,
    "restart database": restart_database,
    "blink of database": blink_database,
    "refused writes": refuse_writes,
    "lock file": lock_file,
    "rolling restart": rolling_restart,
    "freeze broker": freeze_broker,
}
