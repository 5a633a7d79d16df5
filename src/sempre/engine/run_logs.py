"""Logs of runs: stored with each heartbeat while a run is under way, and whole before its end is.

Logs are for people: nothing is decided by them, and a log that cannot be stored keeps no end from
being recorded. After a crash of the worker the log is there up to the last heartbeat.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from threading import Lock

from sempre.engine.capacity import Capacity
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.errors import StoreError
from sempre.ports.executor import Executor, Outcome, Run
from sempre.ports.run_logs import RunLog

__all__ = ["RunLogWriter"]

# Logs of ended runs that wait for a store which does not answer; the oldest are dropped.
MOST_WAITING = 1000
# Of the text in one call of the store, in characters: a larger call would hold up other workers.
LARGEST_CALL = 1_048_576

Written = tuple[str, RunLog]
"""A log, after the session of its run."""


class RunLogWriter:
    """Stores the logs of all runs of a worker. Any thread may call the methods."""

    def __init__(self, engine: Engine, capacity: Capacity, executor: Executor) -> None:
        """Begin without a log."""
        self._engine = engine
        self._capacity = capacity
        self._executor = executor
        # By fence, the hash of the text that the store has.
        self._stored: dict[int, int] = {}
        self._ended: deque[Written] = deque(maxlen=MOST_WAITING)
        # An older text of a run must not be stored after a newer one.
        self._lock = Lock()

    def note_end(self, run: Run, outcome: Outcome) -> None:
        """Keep the log of a run that has ended, for `write_ended`."""
        if outcome.log:
            self._ended.append(_log_of(run, outcome.log))

    def write_ended(self) -> None:
        """Store the logs of ended runs; a failure is left to the next call, and never raised."""
        while self._ended:
            with self._lock:
                waiting = [self._ended.popleft() for _ in range(len(self._ended))]
                try:
                    self._write(waiting)
                except StoreError:
                    # The store is asked for the ends next, and reports its outage there.
                    self._ended.extendleft(reversed(waiting))
                    return
                except Exception as error:  # noqa: BLE001 - no log may keep an end from being stored
                    facts = {"error": repr(error), "where": "logs of runs"}
                    self._engine.events.emit(Happened.INTERNAL_ERROR, **facts)

    def write_running(self) -> None:
        """Store the logs of runs under way that have changed since the last call.

        Raises:
            StoreUnavailable: the next call stores them.
        """
        with self._lock:
            logs = self._executor.logs()
            changed = {fence: log for fence, log in logs.items() if self._is_new(fence, log)}
            if changed:
                runs = {run.execution.fence: run for run in self._capacity.running()}
                self._write(_log_of(runs[each], changed[each]) for each in changed if each in runs)
            self._stored = {fence: hash(log) for fence, log in logs.items()}

    def _is_new(self, fence: int, log: str) -> bool:
        return self._stored.get(fence) != hash(log)

    def _write(self, logs: Iterable[Written]) -> None:
        for session, batch in _batches(logs):
            self._engine.store.write_logs(batch, session=session)


def _log_of(run: Run, text: str) -> Written:
    row = run.execution
    return row.session, RunLog(row.id, row.fence, text)


def _batches(logs: Iterable[Written]) -> Iterator[tuple[str, list[RunLog]]]:
    """Yield the logs of each session, in batches of a limited size."""
    for session, group in groupby(sorted(logs, key=lambda each: each[0]), lambda each: each[0]):
        batch: list[RunLog] = []
        size = 0
        for _, log in group:
            if batch and size + len(log.text) > LARGEST_CALL:
                yield session, batch
                batch, size = [], 0
            batch.append(log)
            size += len(log.text)
        yield session, batch
