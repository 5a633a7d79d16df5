"""Unserved work: due executions that no live worker can run, by their queue or their job.

A queue that no worker serves and a job that no worker knows look alike from outside: nothing
happens. The report is a warning and no repair: a worker that serves them may be about to start.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from threading import Event

from sempre.domain.execution import Execution
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.engine.loops import Loop
from sempre.errors import StoreError
from sempre.ports.messages import Session

__all__ = ["Unserved", "UnservedWatch"]

# Rows of one scan; the next scan goes on behind them.
PAGE = 100
# Seconds after which a queue or job is reported again.
AGAIN = 600.0
SWEEPS = 4


class Unserved:
    """Scans due work, a page at a time, for what no live worker can run."""

    def __init__(self, engine: Engine) -> None:
        """Scan the store of an engine."""
        self._engine = engine
        self._after = ""
        self._reported_at: dict[tuple[str, str], float] = {}

    def step(self) -> float:
        """Report unserved work of one page; return seconds to rest."""
        store, rest = self._engine.store, SWEEPS * self._engine.settings.sweep.total_seconds()
        reading = store.waiting(None, horizon=timedelta(0), after=self._after, limit=PAGE)
        page = self._engine.read(reading)
        self._after = page.after
        if not page.items:
            return rest
        found = self._engine.read(store.candidates([each.id for each in page.items]))
        sessions = store.sessions()
        alive = [
            each for each in self._engine.read(sessions) if each.is_leased_beyond(sessions.now)
        ]
        rows = [each.execution for each in found if each.stopped_by is None]
        for (subject, reason), some in _grouped(rows, alive).items():
            self._report(subject, reason, some)
        return rest

    def _report(self, subject: str, reason: str, rows: Sequence[Execution]) -> None:
        now, key = self._engine.clock.elapsed(), (subject, reason)
        if key in self._reported_at and now - self._reported_at[key] < AGAIN:
            return
        self._reported_at[key] = now
        first = rows[0].snapshot
        remedy = f"sempre worker APP -q {first.queue}"
        if subject == "job":
            remedy = f"start a worker whose code declares the job {first.job}"
        names = sorted({row.snapshot.name for row in rows})
        facts = {"queue": first.queue, "job": first.job, "executions": len(rows), "names": names}
        self._engine.events.emit(Happened.UNSERVED, **facts, reason=reason, remedy=remedy)


class UnservedWatch:
    """Scans for unserved work in a thread of its own, from one sweep after `start` on."""

    def __init__(self, engine: Engine) -> None:
        """Prepare the thread; nothing runs before `start`."""
        self._engine = engine
        self._unserved = Unserved(engine)
        self._end = Event()
        self._is_first = True
        self._loop = Loop("unserved", self._step, end=self._end, failed=self._failed)

    def start(self) -> None:
        """Start the thread; workers that start at the same time have a sweep to register."""
        self._loop.start()

    def stop(self) -> None:
        """End the thread, without waiting for a scan that is under way."""
        self._end.set()
        self._loop.call()

    def _step(self) -> float:
        if self._is_first:
            self._is_first = False
            return self._engine.settings.sweep.total_seconds()
        return self._unserved.step()

    def _failed(self, name: str, error: Exception) -> None:
        # A store that is down is reported by the worker.
        if not isinstance(error, StoreError):
            self._engine.events.emit(Happened.INTERNAL_ERROR, error=repr(error), where=name)


def _grouped(
    rows: Iterable[Execution], alive: Sequence[Session]
) -> dict[tuple[str, str], list[Execution]]:
    """Return executions that no live worker can run, by what is missing and why."""
    found = defaultdict[tuple[str, str], list[Execution]](list)
    for row in rows:
        queue, job = row.snapshot.queue, row.snapshot.job
        serving = [each for each in alive if queue in each.queues]
        if not serving:
            found["queue", f"no live worker serves the queue {queue}"].append(row)
        elif not any(job in each.jobs for each in alive):
            found["job", f"no live worker knows the job {job}"].append(row)
        elif not any(job in each.jobs for each in serving):
            reason = f"no live worker that serves the queue {queue} knows the job {job}"
            found["queue", reason].append(row)
    return found
