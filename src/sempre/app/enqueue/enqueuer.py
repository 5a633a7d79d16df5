"""Enqueuer: calls become executions of their own, one or many thousands in a few round trips."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sempre.app.enqueue.receipt import Receipt
from sempre.app.jobs import Call, Job
from sempre.app.options import Duration, EnqueueOptions
from sempre.app.transactions.join import joined_transaction, transactional
from sempre.domain.arguments import Json
from sempre.domain.definition import read_fields
from sempre.domain.execution import Execution
from sempre.domain.job_policy import JobPolicy
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.unique import read_unique
from sempre.domain.values import copy_with
from sempre.engine.core import Engine
from sempre.engine.ids import new_id, new_ids
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_in_zone
from sempre.ports.messages import Alike, Backoff, Enqueued, UniqueKey, Work
from sempre.ports.tracing import EnqueueSpan

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["BATCH", "Enqueuer"]

R = TypeVar("R")
BATCH = 1000
NO_TIME = timedelta(0)
NO_OPTIONS: EnqueueOptions = {}
# The fractions of its multiples lie evenly between 0 and 1, however many there are.
GOLDEN = 0.6180339887498949


class Enqueuer:
    """Enqueues calls of one application, all by the same options.

    Args:
        app: whose store gets the executions.
        options: as `job.options(...)` takes them; they override what jobs declare.
        kind: of the executions.
        spread: the length of time over which the starts are spread evenly.
        backoff: how long a unique key is refused after its last execution failed.

    Raises:
        TypeError: there is no such option.
    """

    def __init__(
        self,
        app: "Sempre",
        options: EnqueueOptions = NO_OPTIONS,
        *,
        kind: Kind = Kind.ENQUEUED,
        spread: Duration | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        """Check the names of the options; nothing is enqueued yet."""
        if unknown := options.keys() - EnqueueOptions.__annotations__.keys():
            raise TypeError(f"an enqueue has no option {', '.join(sorted(unknown))}")
        self._app = app
        self._options = options
        self._kind = kind
        self._spread = NO_TIME if spread is None else read_duration("spread", spread)
        self._backoff = backoff

    def with_options(self, options: EnqueueOptions) -> "Enqueuer":
        """Return an enqueuer of the same application with these options alone."""
        return Enqueuer(self._app, options)

    @property
    def joins_transaction(self) -> bool:
        """Whether an enqueue here and now would join a transaction of the caller."""
        return joined_transaction(self._app, self._options.get("tx")) is not None

    def enqueue(self, call: Call[R]) -> Receipt[R]:
        """Enqueue one call."""
        return self._enqueue_batch([call], 0)[0]

    def enqueue_many(
        self, calls: Iterable[Call[Any] | Job[..., Any]], *, batch: int = BATCH
    ) -> Iterator[list[Receipt[Any]]]:
        """Enqueue calls as they come, a batch at a time; yield the receipts of each batch.

        A batch is enqueued as a whole or not at all. Batches before one that fails stay enqueued.
        """
        rest, number = iter(calls), 0
        while taken := [_call(each) for each in islice(rest, batch)]:
            yield self._enqueue_batch(taken, number)
            number += len(taken)

    def _enqueue_batch(self, calls: Sequence[Call[Any]], first: int) -> list[Receipt[Any]]:
        """Enqueue calls, the first of which has this number among those of `enqueue_many`."""
        jobs = (call.job.name for call in calls)
        span = self._app.tracer.begin_enqueue(jobs, kind=self._kind.value)
        if span is None:
            return self._enqueue_in(None, calls, first)
        with span.activate():
            return self._enqueue_in(span, calls, first)

    def _enqueue_in(
        self, span: EnqueueSpan | None, calls: Sequence[Call[Any]], first: int
    ) -> list[Receipt[Any]]:
        """Enqueue calls in a span, whose context goes with the executions."""
        now = self._app.engine.present()
        works = self._works(calls, first, self._blank(now, span.traceparent if span else ""))
        with self._app.middleware.enqueuing(calls):
            answers = self._pass_gates(works, now)
        if span is not None:
            created = [answer.id for answer in answers if answer.created]
            span.wrote(created, queue=next(iter(works)).execution.snapshot.queue)
        return [Receipt(*answer, self._engine) for answer in answers]

    def _works(self, calls: Sequence[Call[Any]], first: int, blank: Execution) -> Collection[Work]:
        """Return calls as work: as `Alike`, if they differ in arguments only."""
        policies = {name: self._policy(name) for name in {call.job.name for call in calls}}
        job, now = calls[0].job, blank.created_at
        policy = policies[job.name]
        is_plain = not (self._spread or self._backoff or policy.unique)
        if is_plain and all(call.job is job for call in calls):
            shared = copy_with(blank, snapshot=_snapshot(policy, job.name, {}, blank))
            ids = new_ids(now, len(calls))
            return Alike(shared, dict(zip(ids, [call.args for call in calls], strict=True)))
        return [
            self._work(call, policies[call.job.name], blank, number)
            for number, call in enumerate(calls, first)
        ]

    def _policy(self, job: str) -> JobPolicy:
        """Return what a job declares, overridden by the options."""
        declared = self._app.declarations.policies.get(job, JobPolicy())
        given = {name: self._options.get(name) for name in ("queue", "priority")}
        chosen = read_fields({name: value for name, value in given.items() if value is not None})
        unique = self._options.get("unique")
        if unique is not None:
            chosen["unique"] = read_unique(unique)
        return replace(declared, **chosen) if chosen else declared

    def _blank(self, now: datetime, trace: str) -> Execution:
        """Return what the executions of a batch share."""
        due_at = self._due_at(now)
        return Execution(
            id="",
            kind=self._kind,
            run_at=due_at,
            due_at=due_at,
            snapshot=Snapshot(name="", job="", trace=trace),
            state=State.PENDING if self._app.engine.bell.carries else State.SCHEDULED,
            created_at=now,
        )

    def _due_at(self, now: datetime) -> datetime:
        at, delay = self._options.get("at"), self._options.get("delay")
        due_at = now if at is None else read_in_zone("at", at, self._app.settings.timezone)
        return due_at if delay is None else due_at + read_duration("delay", delay)

    def _work(self, call: Call[Any], policy: JobPolicy, blank: Execution, number: int) -> Work:
        job, unique = call.job, policy.unique
        snapshot = _snapshot(policy, job.name, call.args, blank)
        row = copy_with(blank, id=new_id(blank.created_at), snapshot=snapshot)
        if self._spread:
            due_at = blank.due_at + self._spread * (number * GOLDEN % 1)
            row = copy_with(row, run_at=due_at, due_at=due_at)
        if unique is None:
            return Work(row, None, self._backoff)
        key = unique.key(job.name, job.complete(call.args))
        return Work(row, UniqueKey(key, unique.mode, unique.period), self._backoff)

    def _pass_gates(self, works: Collection[Work], now: datetime) -> Sequence[Enqueued]:
        """Enqueue the work that no gate refuses; return the answer for each piece of work."""
        refused = self._refused(works)
        if not refused:
            return self._write(works, now)
        wanted = [each for each in works if each.execution.id not in refused]
        answers = iter(self._write(wanted, now) if wanted else ())
        return [refused.get(each.execution.id) or next(answers) for each in works]

    def _refused(self, works: Collection[Work]) -> dict[str, Enqueued]:
        """Return the answers for work that a gate refuses, by id."""
        if not self._app.middleware.has_gates:
            return {}
        refused = {}
        for row in (work.execution for work in works):
            if reason := self._app.middleware.refusal(row.snapshot.job, row.snapshot.args):
                refused[row.id] = Enqueued(row.id, created=False, rejected_by=reason)
        return refused

    def _write(self, works: Collection[Work], now: datetime) -> Sequence[Enqueued]:
        """Write work to the store, in the caller's transaction if there is one, and ring."""
        engine = self._app.engine
        joined = joined_transaction(self._app, self._options.get("tx"))
        if joined is None:
            answers = engine.store.enqueue(works)
            _ring(engine, works, answers, now)
            return answers
        answers = transactional(engine.store).enqueue_within(joined.connection, works)
        if joined.is_silent:
            engine.bell.ring_within(joined.connection, _born(engine, works, answers), now)
        joined.after_commit(lambda: _ring(engine, works, answers, now))
        return answers

    def _engine(self) -> Engine:
        return self._app.engine


def _ring(
    engine: Engine, works: Collection[Work], answers: Sequence[Enqueued], now: datetime
) -> None:
    rung = engine.bell.ring(_born(engine, works, answers), now)
    if engine.tracer is not None:
        engine.tracer.rang(rung)


def _snapshot(policy: JobPolicy, job: str, args: Mapping[str, Json], blank: Execution) -> Snapshot:
    """Return the snapshot of a job, with the trace that the executions of a batch share."""
    snapshot, trace = policy.snapshot(job, args), blank.snapshot.trace
    return copy_with(snapshot, trace=trace) if trace else snapshot


def _born(engine: Engine, works: Collection[Work], answers: Sequence[Enqueued]) -> list[Execution]:
    """Return the rows that were created; only the first of `Alike` if the bell carries none."""
    if isinstance(works, Alike) and not engine.bell.carries:
        # A worker that queries finds them all: one row says when to query.
        works, answers = [next(iter(works))], answers[:1]
    return [
        work.execution
        for work, answer in zip(works, answers, strict=True)
        if answer.created and answer.id == work.execution.id
    ]


def _call(given: Call[Any] | Job[..., Any]) -> Call[Any]:
    return given if isinstance(given, Call) else given.bind()
