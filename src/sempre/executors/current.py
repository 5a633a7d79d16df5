"""What a job can ask about its own run, and tell about it: `current()`.

It works wherever the run goes by itself: in its thread, its task and the tasks that this starts,
in its child process. A thread that a job starts on its own has no context of the run; hand the
`Current` over to it, all of whose methods may be called from any thread.

A test of a job needs no worker:

    with running(Current(name="bill", attempt=2)) as run:
        bill()
    assert run.link.told == Progress(3, 3)
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
from sempre.domain.states import Kind
from sempre.errors import InvalidInput, NotInJob, RunCancelled
from sempre.executors.effects import Opener, RunEffects
from sempre.ports.executor import Progress, Run

__all__ = ["LONGEST_NOTE", "Current", "Link", "amount", "current", "running"]

LONGEST_NOTE = 200
# Beyond it a float has no room for the last digit, and a store none for a whole number.
LARGEST_EXACT = 2**53
_RUNNING: ContextVar["Current"] = ContextVar("sempre_current")


class Link:
    """What a run and its executor tell each other: progress one way, a request to end the other.

    Attributes:
        told: how far the run says it has come.
    """

    def __init__(self) -> None:
        self.told: Progress | None = None
        self._reason: str | None = None

    def tell(self, progress: Progress) -> None:
        """Note how far the run has come."""
        self.told = progress

    def cancel(self, reason: str) -> None:
        """Ask the run to end; the first reason counts."""
        if self._reason is None:
            self._reason = reason

    @property
    def reason(self) -> str | None:
        """Why the run was asked to end; None as long as it was not."""
        return self._reason


@dataclass(kw_only=True, eq=False)
class Current:
    """One run, as its job sees it.

    Attributes:
        name: of the schedule, or of the job for one-off work.
        job: the name under which the function is registered.
        slot: the instant of the grid that is run, in UTC; it never moves.
        due_at: when it was to start, jitter and retries included.
        attempt: 1 for the first.
        fence: a number above that of every earlier claim; a resource that remembers the highest
            it has seen can refuse a run that lost its lease.
        id: of the execution.
        kind: why it exists.
        args: the arguments.
        timeout: how long the run may take; None is no limit.
        clock: times what is left of that.
        link: to the executor, or to the test that made this.
        opener: begins the transaction of the run; there is none in a test.
        effects: that transaction, once the job has asked for `tx`.
        redact: names whose values are masked in notes of progress.
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
    effects: RunEffects = field(init=False, repr=False)
    _times_out: float | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin to count what is left of the time."""
        self.effects = RunEffects(self.opener, self.id, self.fence)
        timeout = self.timeout
        self._times_out = (
            None if timeout is None else self.clock.elapsed() + timeout.total_seconds()
        )

    @classmethod
    def of(
        cls, run: Run, *, began: float, clock: Clock, link: Link, opener: Opener | None = None
    ) -> "Current":
        """Return what the job of a run may know that began at a point of `elapsed`."""
        execution, timeout = run.execution, run.timeout
        snapshot = execution.snapshot
        made = object.__new__(cls)
        # The constructor would cost more than all the rest of a short run.
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
            "effects": RunEffects(opener, execution.id, execution.fence),
            "_times_out": None if timeout is None else began + timeout.total_seconds(),
        }
        return made

    @property
    def key(self) -> str:
        """The same for every attempt at the same piece of work, and for no other."""
        return key_of(self.name, self.slot, self.kind, self.id)

    @property
    def tx(self) -> Any:  # noqa: ANN401 - of whichever driver the store has
        """A connection to the store's database, whose transaction commits with the end of the run.

        What the job writes in it and the record of its success are kept together, or neither is:
        if the job raises, dies, or has lost its lease meanwhile. So the effect is there exactly
        once. It is a psycopg, sqlite3 or PyMySQL connection of the run's own; the worker ends it,
        and the job must not. Ask for it late: SQLite lets nobody else write from then on.

        Raises:
            TransactionError: the store is no SQL database, or no worker runs the job. For what
                lives elsewhere there are `fence` and `key`.
            StoreUnavailable: the database cannot be reached.
        """
        return self.effects.connection

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Tell how far the run has come; cheap enough for a loop.

        Args:
            done: how much is done, in any unit; without a total, what was counted so far.
            total: how much there is to do.
            note: what is being done, cut to 200 bytes.

        Raises:
            InvalidInput: an amount is not a finite number.
        """
        counted, whole = amount(done), amount(total)
        if counted is None or (whole is None and total is not None):
            wrong = done if counted is None else total
            raise InvalidInput("progress", wrong, allowed="finite numbers")
        kept = kept_text(str(note), self.redact, LONGEST_NOTE) if note else ""
        self.link.tell(Progress(counted, whole, kept))

    @property
    def cancelled(self) -> bool:
        """Whether the run was asked to end, by a person or because its time is over.

        In a child process a job that never looks is ended at once by SIGTERM; one that has looked
        is given some seconds to end by itself.
        """
        return self.link.reason is not None

    def raise_if_cancelled(self) -> None:
        """Raise RunCancelled if the run was asked to end."""
        if (reason := self.link.reason) is not None:
            raise RunCancelled(reason)

    @property
    def seconds_left(self) -> float | None:
        """How long the run may still take; None without a limit, negative when it is over."""
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
        return _JobLogger(logging.getLogger("sempre.job"), extra)


def current() -> Current:
    """Return the run that this code belongs to.

    Raises:
        NotInJob: it belongs to none, or to a thread that a job has started by itself.
    """
    try:
        return _RUNNING.get()
    except LookupError:
        raise NotInJob(
            "current() was called outside of a running job; in a thread of the job's own, pass "
            "the job's current() to it; in a test, use: with running(Current(name=...)): ..."
        ) from None


class running:  # noqa: N801 - it reads as a word
    """Make `current()` return a run inside a `with` block, in this thread or task."""

    def __init__(self, run: Current) -> None:
        self._run = run

    def __enter__(self) -> Current:
        self._before = _RUNNING.set(self._run)
        return self._run

    def __exit__(self, *_: object) -> None:
        _RUNNING.reset(self._before)


class _JobLogger(logging.LoggerAdapter[logging.Logger]):
    def process(
        self, msg: object, kwargs: MutableMapping[str, Any]
    ) -> tuple[object, MutableMapping[str, Any]]:
        # The base class would drop what the job itself has to add.
        kwargs["extra"] = {**(kwargs.get("extra") or {}), **(self.extra or {})}
        return msg, kwargs


def amount(value: object) -> float | None:
    """Return a finite number as every store can hold it; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, int) and abs(value) <= LARGEST_EXACT:
        return value
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:  # a whole number beyond every float
        return None
