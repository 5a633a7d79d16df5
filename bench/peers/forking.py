"""A child process for each run: ours, and a bare fork and wait in a process of the same size."""

from bench.fork import TASK, bare, in_flight
from bench.peers.telling import timed
from sempre.executors.process import ProcessExecutor


def ours(count: int) -> dict[str, float]:
    executor = ProcessExecutor({"job": TASK}.__getitem__)
    executor.start()
    said = timed(lambda: in_flight(executor, 1)(count))
    executor.stop()
    return said


def limit(count: int) -> dict[str, float]:
    return timed(lambda: bare(count))
