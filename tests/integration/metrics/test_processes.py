"""One endpoint answers for all worker processes of a command, whatever happens to them."""

import json
import signal
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sempre.testing.polling import eventually
from tests.integration.cli.programs import Program, finished, program
from tests.integration.fleet.processes import children, send
from tests.integration.metrics.prometheus_server import free_port, get
from tests.integration.redis.redis_server import redis_server

JOBS = """
import ctypes

from sempre import Sempre

app = Sempre("sqlite:///jobs.db", lease="6s")


@app.every("1s")
def tick() -> None: ...


@app.job
def hold_the_interpreter() -> None:
    # A call of C that keeps the interpreter to itself, as a busy extension does.
    ctypes.PyDLL(None).sleep(12)
"""
ENDED = "sempre_executions_ended_total"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


@pytest.fixture
def port() -> int:
    return free_port()


def words(port: int, processes: int = 1) -> tuple[str, ...]:
    address = f"127.0.0.1:{port}"
    return ("worker", "jobs.py", "--processes", str(processes), "--metrics", address)


def value(port: int, name: str, **labels: str) -> float | None:
    """Return the sum of the series of a metric; None if there is none."""
    status, text = get(port, "/metrics")
    if status != 200:
        return None
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return sum(found) if found else None


def worker_pids(folder: Path) -> list[int]:
    """Return the worker processes that hold their lease; none while the store is not set up."""
    done = finished(folder, "workers", "--json", "--store", "sqlite:///jobs.db")
    if done.returncode:
        return []
    return [each["pid"] for each in json.loads(done.stdout)["workers"] if each["state"] == "alive"]


def metrics_pid(worker: Program, folder: Path) -> int:
    """Return the process that serves the metrics: the child of the supervisor without a session."""
    pids = {each.pid for each in children(worker.process.pid)} - {*worker_pids(folder)}
    return min(pids, default=0)


def test_totals_never_drop_when_a_worker_process_is_killed(folder: Path, port: int) -> None:
    with program(folder, *words(port, 2)):
        eventually(lambda: (value(port, ENDED, state="succeeded") or 0) >= 3)
        assert eventually(lambda: value(port, "sempre_worker_processes") == 2)
        eventually(lambda: get(port, "/readyz") == (200, "ready\n"))
        before = value(port, ENDED, state="succeeded")
        assert before is not None
        seen = {*worker_pids(folder)}
        send(min(seen), signal.SIGKILL)

        eventually(lambda: {*worker_pids(folder)} - seen)
        totals = [before]
        while totals[-1] < before + 3:
            totals.append(eventually(lambda: value(port, ENDED, state="succeeded")))

    assert totals == sorted(totals)


def test_a_metrics_process_that_is_killed_is_replaced_and_ends_no_worker(
    folder: Path, port: int
) -> None:
    with program(folder, *words(port)) as worker:
        eventually(lambda: value(port, ENDED, state="succeeded"))
        workers, serving = worker_pids(folder), metrics_pid(worker, folder)
        send(serving, signal.SIGKILL)

        eventually(lambda: metrics_pid(worker, folder) not in (serving, 0))
        eventually(lambda: value(port, ENDED, state="succeeded"))

        assert worker_pids(folder) == workers
        assert worker.end(signal.SIGTERM) == 0
    assert any(
        f"process {serving} beside the workers was killed by SIGKILL" in each
        for each in worker.lines
    )


def test_the_endpoint_answers_while_a_job_holds_the_interpreter_of_its_worker(
    folder: Path, port: int
) -> None:
    with program(folder, *words(port)) as worker:
        eventually(lambda: get(port, "/readyz")[0] == 200)
        finished(folder, "enqueue", "hold_the_interpreter", "--store", "sqlite:///jobs.db")
        eventually(lambda: "has been silent for" in get(port, "/readyz")[1])

        assert get(port, "/healthz") == (200, "alive\n")
        assert value(port, "sempre_store_up") == 1
        worker.process.kill()


def test_an_address_in_use_ends_the_command_before_any_work(folder: Path, port: int) -> None:
    with program(folder, *words(port)):
        eventually(lambda: get(port, "/healthz")[0] == 200)

        done = finished(folder, *words(port))

    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr
    assert "already in use" in done.stderr
    assert "working on" not in done.stderr


@pytest.mark.parametrize("text", ["9464", "127.0.0.1:99999", "nowhere"])
def test_an_address_that_cannot_be_read_is_wrong_usage(folder: Path, text: str) -> None:
    done = finished(folder, "worker", "jobs.py", "--metrics", text)

    assert done.returncode == 2
    assert "HOST:PORT" in done.stderr


def test_a_burst_takes_no_address_for_metrics(folder: Path) -> None:
    done = finished(folder, "worker", "jobs.py", "--burst", "--metrics", "127.0.0.1:0")

    assert done.returncode == 2
    assert "--burst" in done.stderr


def test_metrics_follow_their_worker_to_a_store_that_replaces_the_old_one(
    folder: Path, port: int
) -> None:
    with program(folder, *words(port)):
        eventually(lambda: value(port, "sempre_store_up") == 1)
        (folder / "jobs.db").rename(folder / "away.db")
        for suffix in ("-wal", "-shm"):
            (folder / f"jobs.db{suffix}").unlink(missing_ok=True)
        eventually((folder / "jobs.db").exists)
        eventually(lambda: worker_pids(folder))

        off = ("switch", "off", "tick", "-m", "a test", "--store", "sqlite:///jobs.db")
        eventually(lambda: finished(folder, *off).returncode == 0)

        eventually(lambda: value(port, "sempre_switches_off") == 1)
        eventually(lambda: get(port, "/readyz")[0] == 200)


@pytest.mark.parametrize("harm", ["killed", "frozen"])
def test_a_store_that_does_not_answer_makes_no_scrape_fail(
    folder: Path, port: int, harm: str
) -> None:
    redis_port = free_port()
    with redis_server(port=str(redis_port), bind="127.0.0.1") as server:
        url = f"redis://127.0.0.1:{redis_port}/0"
        (folder / "jobs.py").write_text(JOBS.replace("sqlite:///jobs.db", url))
        with program(folder, *words(port)):
            eventually(lambda: value(port, ENDED, state="succeeded"))
            eventually(lambda: get(port, "/readyz")[0] == 200)
            if harm == "killed":
                server.kill()
            else:
                send(server.pid, signal.SIGSTOP)

            # Each question gets an answer, whatever the store does.
            eventually(lambda: value(port, "sempre_store_up") == 0)
            assert (value(port, ENDED, state="succeeded") or 0) > 0
            assert value(port, "sempre_watchdog_age_seconds") is None
            assert get(port, "/healthz") == (200, "alive\n")
            assert get(port, "/readyz")[0] == 503
            eventually(lambda: (value(port, "sempre_store_errors_total") or 0) > 0)

            if harm == "killed":
                server.start()
            else:
                send(server.pid, signal.SIGCONT)
            eventually(lambda: value(port, "sempre_store_up") == 1)
            eventually(lambda: get(port, "/readyz")[0] == 200)


def test_the_setting_of_the_environment_serves_metrics_too(folder: Path, port: int) -> None:
    with program(folder, "worker", "jobs.py", SEMPRE_METRICS=f"127.0.0.1:{port}") as worker:
        eventually(lambda: get(port, "/readyz")[0] == 200)

        assert worker.end(signal.SIGINT) == 0
    assert get(port, "/healthz")[0] == 0


def test_a_worker_on_a_memory_store_serves_its_own_metrics(folder: Path, port: int) -> None:
    (folder / "jobs.py").write_text(JOBS.replace("sqlite:///jobs.db", "memory://"))
    with program(folder, *words(port)) as worker:
        eventually(lambda: value(port, ENDED, state="succeeded"))
        assert get(port, "/readyz") == (200, "ready\n")
        assert value(port, "sempre_schedules") == 1

        assert worker.end(signal.SIGTERM) == 0
