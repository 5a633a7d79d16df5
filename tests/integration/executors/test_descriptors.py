"""Descriptors of the worker: no child has one, nor a program or a process that a job starts."""

import os
import signal

from tests.integration.executors.hosting import Worker, fork_server


def test_a_child_has_no_stream_of_another_one_that_is_forked_after_it() -> None:
    with Worker() as worker:
        alone = worker.run("list_descriptors")["result"]
        server = fork_server(worker)
        os.kill(server, signal.SIGSTOP)
        for _ in range(6):
            worker.submit("list_descriptors")
        os.kill(server, signal.SIGCONT)

        outcomes = [worker.outcome()["result"] for _ in range(6)]

    assert outcomes == [alone] * 6


def test_a_private_descriptor_of_the_worker_leads_nowhere_in_a_child() -> None:
    with Worker() as worker:
        private = worker.ask("private")

        found = worker.run("describe_descriptors", descriptors=private)["result"]

    assert found == ["/dev/null"] * 2


def test_a_process_that_a_job_forks_in_the_worker_reaches_no_fork_server_and_no_child() -> None:
    with Worker() as worker:
        worker.submit("hang")
        worker.read_line()

        found = worker.ask("fork")

        assert len(found) > 6
        assert set(found) == {"/dev/null"}
        assert worker.run("echo", value="all is well")["result"] == "all is well"
