"""The run that a job belongs to, as the job sees it: `current()`.

`current()` works in the thread or child process of the run, in its task and in the tasks that this
task starts. A thread that a job starts has no context of the run: pass the `Current` to it. All
methods of `Current` may be called from any thread.

A test of a job needs no worker:

    with running(Current(name="bill", attempt=2)) as run:
        bill()
    assert run.link.progress == Progress(3, 3)
"""

import logging
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

from sempre.clock import Clock, SystemClock
from sempre.domain.arguments import Json
from sempre.domain.execution import key_of
from sempre.domain.redaction import kept_text
from sempre.domain.run_log import LogRule
from sempre.domain.states import Kind
from sempre.errors import InvalidInput, NotInJob, RunCancelled, StoreLocked
from sempre.executors.effects import Opener, RunEffects
from sempre.executors.link import Link
from sempre.ports.executor import Progress, Run
from sempre.ports.tracing import SpanInProcess

__all__ = [
    "JOB_LOGGER",
    "LONGEST_NOTE",
    "Current",
    "amount",
    "current",
    "run_fields",
    "running",
    "running_now",
]

JOB_LOGGER = "sempre.job"
LONGEST_NOTE = 200
# Above this limit a float loses the last digit, and some stores cannot hold the whole number.
LARGEST_EXACT = 2**53
_logger = logging.getLogger("sempre")
_RUNNING: ContextVar["Current"] = ContextVar("sempre_current")


@dataclass(kw_only=True, eq=False)
class Current:
    """One run, as its job sees it.

    Attributes:
        name: the name of the schedule, or of the job for one-off work.
        job: the name under which the function is registered.
        slot: the instant of the grid that is run, in UTC; it never moves.
        due_at: when the run was to start, jitter and retries included.
        attempt: 1 for the first attempt.
        fence: a number above that of every earlier claim; a resource that remembers the highest
            fence can refuse a run that lost its lease.
        id: the id of the execution.
        kind: why the execution exists.
        args: the arguments of the job.
        timeout: how long the run may take; None is no limit.
        clock: measures the time that is left.
        link: to the executor, or to the test that made this object.
        opener: begins the transaction of the run; None in a test.
        effects: the transaction of the run, once the job has asked for `tx`.
        redact: names whose values are masked in notes of progress and in the log.
        log_rule: which records of the run are captured.
        queue: the queue of the execution.
        span: the span of the run, if spans are recorded.
    """

    name: str = "example"
    job: str = "example"
    slot: datetime = datetime(2001, 1, 1, tzinfo=UTC)
    due_at: datetime = datetime(2001, 1, 1, tzinfo=UTC)
    attempt: int = 1
    fence: int = 1
    id: str = "00000000-0000-7000-8000-000000000000"
    kind: Kind = Kind.SCHEDULED
    args: Mapping[str, Json] = field(default_factory=dict, repr=False)
    timeout: timedelta | None = None
    clock: Clock = field(default_factory=SystemClock, repr=False)
    link: Link = field(default_factory=Link, repr=False)
    opener: Opener | None = field(default=None, repr=False)
    redact: tuple[str, ...] = field(default=(), repr=False)
    log_rule: LogRule = field(default=LogRule(), repr=False)
    queue: str = field(default="default", repr=False)
    span: SpanInProcess | None = field(default=None, repr=False)
    effects: RunEffects = field(init=False, repr=False)
    _times_out: float | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin to measure the time that is left."""
        self.effects = RunEffects(self.opener, self.id, self.fence)
        timeout = self.timeout
        self._times_out = (
            None if timeout is None else self.clock.elapsed() + timeout.total_seconds()
        )

    @classmethod
    def of(
        cls, run: Run, *, began: float, clock: Clock, link: Link, opener: Opener | None = None
    ) -> "Current":
        """Return the `Current` of a run that began at a point of `elapsed`."""
        execution, timeout = run.execution, run.timeout
        snapshot = execution.snapshot
        made = object.__new__(cls)
        # The constructor would take longer than the rest of a short run.
        made.__dict__ = {
            "name": snapshot.name,
            "job": run.task.name,
            "slot": execution.run_at,
            "due_at": execution.due_at,
            "attempt": execution.attempt,
            "fence": execution.fence,
            "id": execution.id,
            "kind": execution.kind,
            "args": snapshot.args,
            "timeout": timeout,
            "clock": clock,
            "link": link,
            "opener": opener,
            "redact": run.task.redact,
            "log_rule": run.task.log_rule,
            "queue": snapshot.queue,
            "span": run.span,
            "effects": RunEffects(opener, execution.id, execution.fence),
            "_times_out": None if timeout is None else began + timeout.total_seconds(),
        }
        return made

    @property
    def key(self) -> str:
        """A key of the piece of work: equal for all its attempts, different for all other work."""
        return key_of(self.name, self.slot, self.kind, self.id)

    @property
    def traceparent(self) -> str:
        """The context of the run's span as the W3C header `traceparent`; empty without traces.

        For calls of other services by a client that does not set the header itself.
        """
        return "" if self.span is None else self.span.traceparent

    @property
    def tx(self) -> Any:  # noqa: ANN401 - of whichever driver the store has
        """A connection to the store's database, whose transaction commits with the end of the run.

        The writes of the job in it and the record of its success are committed together. Neither is
        committed if the job raises, dies, or has lost its lease. So the effect is there exactly
        once. The connection is a psycopg, sqlite3 or PyMySQL connection for this run alone; the
        worker commits and closes it, and the job must not. Ask for it late: from then on no other
        process can write to an SQLite file. While other processes write to the file the job waits,
        unless it runs on an event loop.

        Raises:
            RunCancelled: the run was asked to end while it waited.
            TransactionError: the store is no SQL database, or no worker runs the job. For effects
                elsewhere there are `fence` and `key`.
            StoreUnavailable: the database cannot be reached.
        """
        has_warned = False
        while True:
            try:
                return self.effects.connection
            except StoreLocked as error:
                # The holder of the file may need this event loop to release it.
                if _is_on_event_loop():
                    raise
                self.raise_if_cancelled()
                if not has_warned:
                    _logger.warning("%s waits for current().tx: %s", self.name, error)
                    has_warned = True

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Report how far the run has come; cheap enough for a loop.

        Args:
            done: the amount that is done, in any unit.
            total: the whole amount, if it is known.
            note: the current step, cut to 200 bytes.

        Raises:
            InvalidInput: an amount is not a finite number.
        """
        counted, whole = amount(done), amount(total)
        if counted is None or (whole is None and total is not None):
            wrong = done if counted is None else total
            raise InvalidInput("progress", wrong, allowed="finite numbers")
        kept = kept_text(str(note), self.redact, LONGEST_NOTE) if note else ""
        self.link.report_progress(Progress(counted, whole, kept))

    @property
    def cancelled(self) -> bool:
        """Whether the run was asked to end, by a person or because its time is over.

        In a child process SIGTERM ends a job at once that has never asked; a job that has asked
        gets some seconds to end by itself.
        """
        return self.link.reason is not None

    def raise_if_cancelled(self) -> None:
        """Raise RunCancelled if the run was asked to end."""
        if (reason := self.link.reason) is not None:
            raise RunCancelled(reason)

    @property
    def seconds_left(self) -> float | None:
        """How long the run may still take; None without a limit, negative after it."""
        return None if self._times_out is None else self._times_out - self.clock.elapsed()

    @property
    def times_out_at(self) -> datetime | None:
        """When the time of the run is over, by the clock of this host."""
        left = self.seconds_left
        return None if left is None else self.clock.now() + timedelta(seconds=left)

    @property
    def logger(self) -> "logging.LoggerAdapter[logging.Logger]":
        """A logger whose records carry `schedule`, `job`, `execution` and `attempt`."""
        extra = {
            "schedule": self.name,
            "job": self.job,
            "execution": self.id,
            "attempt": self.attempt,
        }
        return _JobLogger(logging.getLogger(JOB_LOGGER), extra)


def current() -> Current:
    """Return the run that this code belongs to.

    Raises:
        NotInJob: the code belongs to no run, or to a thread that a job has started.
    """
    try:
        return _RUNNING.get()
    except LookupError:
        raise NotInJob(
            "current() was called outside of a running job; in a thread of the job's own, pass "
            "the job's current() to it; in a test, use: with running(Current(name=...)): ..."
        ) from None


def running_now() -> Current | None:
    """Return the run that this code belongs to; None outside of a run."""
    return _RUNNING.get(None)


def run_fields() -> dict[str, object]:
    """Return the fields by which log lines name the current run; empty outside of a run."""
    run = _RUNNING.get(None)
    if run is None:
        return {}
    return {
        "execution": run.id,
        "schedule": run.name,
        "job": run.job,
        "queue": run.queue,
        "attempt": run.attempt,
        "kind": str(run.kind),
    }


class running:  # noqa: N801 - reads as a word after `with`
    """Make `current()` return a run, and its span current, inside a `with` block."""

    def __init__(self, run: Current) -> None:
        self._run = run

    def __enter__(self) -> Current:
        self._before = _RUNNING.set(self._run)
        if (span := self._run.span) is not None:
            self._active = span.activate()
            self._active.__enter__()
        return self._run

    def __exit__(self, *_: object) -> None:
        if self._run.span is not None:
            self._active.__exit__(None, None, None)
        _RUNNING.reset(self._before)


class _JobLogger(logging.LoggerAdapter[logging.Logger]):
    def process(
        self, msg: object, kwargs: MutableMapping[str, Any]
    ) -> tuple[object, MutableMapping[str, Any]]:
        # The base class would drop the fields that the job adds.
        kwargs["extra"] = {**(kwargs.get("extra") or {}), **(self.extra or {})}
        return msg, kwargs


def _is_on_event_loop() -> bool:
    import asyncio  # noqa: PLC0415 - few processes ever ask

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def amount(value: object) -> float | None:
    """Return a finite number that every store can hold; None for any other value."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, int) and abs(value) <= LARGEST_EXACT:
        return value
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:  # a whole number beyond every float
        return None
