"""An embedded worker whose fork server dies goes on without child processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.ports.messages import ExecutionQuery
from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tests.integration.executors.hosting import descendants

HOST = """
import sys
from sempre import Sempre

app = Sempre(sys.argv[1], lease="3s")

@app.every("1s", isolation="process")
def apart() -> None: ...

@app.every("1s")
def beside() -> None: ...

with app.running():
    sys.stdin.read()
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Sempre]:
    opened = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}")
    opened.engine.store.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def host(app: Sempre) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOST, app.settings.store]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE) as running:
        yield running
        running.kill()


def rows(app: Sempre, job: str, *states: State) -> list[Execution]:
    query = ExecutionQuery(job=job, states=frozenset(states), limit=100)
    return list(app.engine.store.executions(query).value.items)


def fork_server_of(host: int) -> int:
    """Return the fork server; 0 while a child is not in a process group of its own yet."""
    kinds = descendants(host).items()
    servers = [pid for pid, kind in kinds if kind.startswith("fork server")]
    return servers[0] if len(servers) == 1 else 0


def jobs_of_sessions(app: Sempre) -> list[tuple[str, ...]]:
    """Return the jobs of each session; for a moment, between two sessions, there is none."""
    return [tuple(each.jobs) for each in app.engine.store.sessions().value]


def has_run_twice_more(app: Sempre, job: str) -> None:
    known = {each.id for each in rows(app, job, State.SUCCEEDED)}

    def has_run() -> bool:
        return len({each.id for each in rows(app, job, State.SUCCEEDED)} - known) >= 2

    eventually(has_run)


def test_jobs_of_child_processes_are_left_to_others_and_all_others_go_on(
    app: Sempre, host: subprocess.Popen[str]
) -> None:
    has_run_twice_more(app, "apart")
    server = eventually(lambda: fork_server_of(host.pid))

    os.kill(server, signal.SIGKILL)

    eventually(lambda: jobs_of_sessions(app) == [("beside",)])
    has_run_twice_more(app, "beside")
    ran = len(rows(app, "apart", State.SUCCEEDED))
    assert not rows(app, "apart", State.FAILED)
    assert all(each.crashes <= 1 for each in rows(app, "apart"))
    has_run_twice_more(app, "beside")
    assert len(rows(app, "apart", State.SUCCEEDED)) == ran
