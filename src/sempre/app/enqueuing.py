"""Enqueuing: calls become executions of their own, one or many thousands in a few round trips."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sempre.app.jobs import Call, Job
from sempre.app.options import Duration, Sending
from sempre.app.receipts import Receipt
from sempre.app.transactions import caller_transaction, transactional
from sempre.domain.definition import read_fields
from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.unique import Unique, read_unique
from sempre.domain.values import changed
from sempre.domain.work import WorkPolicy
from sempre.engine.core import Engine
from sempre.engine.ids import new_id, new_ids
from sempre.grids.intervals import read_duration
from sempre.grids.points import read_in_zone
from sempre.ports import messages
from sempre.ports.messages import Alike, Backoff, Work

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["BATCH", "Enqueuer", "Manner", "read_spread"]

R = TypeVar("R")
BATCH = 1000
# The fractions of its multiples lie evenly between 0 and 1, however many there are.
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Manner:
    """How calls are put in, read from what a user wrote."""

    sending: Sending
    kind: Kind = Kind.ENQUEUED
    spread: timedelta = timedelta(0)
    backoff: Backoff | None = None

    def due_at(self, now: datetime, timezone: str | None = None) -> datetime:
        """Return when calls may start, before they are spread; by the clocks of a zone."""
        at, delay = self.sending.at, self.sending.delay
        due_at = now if at is None else read_in_zone("at", at, timezone)
        return due_at if delay is None else due_at + read_duration("delay", delay)

    def spread_of(self, number: int) -> timedelta:
        """Return how much later the n-th call may start."""
        return self.spread * (number * GOLDEN % 1) if self.spread else self.spread

    def policy(self, declared: WorkPolicy) -> WorkPolicy:
        """Return what a job declares, with what was given in its place."""
        names = ("queue", "priority")
        given = {name: getattr(self.sending, name) for name in names}
        chosen = read_fields({name: value for name, value in given.items() if value is not None})
        if self.sending.unique is not None:
            chosen["unique"] = read_unique(self.sending.unique)
        return replace(declared, **chosen) if chosen else declared


class Enqueuer:
    """Puts calls of one application in."""

    def __init__(self, app: "Sempre") -> None:
        """Work on the store of an application."""
        self._app = app

    def send(self, call: Call[R], sending: Sending) -> Receipt[R]:
        """Put one call in."""
        [receipts] = self.send_many([call], Manner(sending))
        return receipts[0]

    def send_many(
        self, calls: Iterable[Call[Any] | Job[..., Any]], manner: Manner, *, batch: int = BATCH
    ) -> Iterator[list[Receipt[Any]]]:
        """Put calls in as they come, a batch at a time; yield the receipts of each batch.

        A batch is put in as a whole or not at all. Those before one that fails stay.
        """
        rest, number = iter(calls), 0
        policies = _Policies(self._app.declarations.policies, manner)
        while taken := [_call(each) for each in islice(rest, batch)]:
            yield self._send_batch(taken, manner, policies, number)
            number += len(taken)

    def _send_batch(
        self, calls: Sequence[Call[Any]], manner: Manner, policies: "_Policies", first: int
    ) -> list[Receipt[Any]]:
        now = self._app.engine.present()
        works = self._works(calls, manner, policies, self._blank(manner, now), first)
        with self._app.middleware.enqueuing(calls):
            answers = self._answers(works, manner, now)
        return self._receipts(answers)

    def _works(
        self,
        calls: Sequence[Call[Any]],
        manner: Manner,
        policies: "_Policies",
        blank: Execution,
        first: int,
    ) -> Collection[Work]:
        """Return calls as work, in short if they are alike and nobody has to look at each."""
        job, policy = calls[0].job, policies.of(calls[0])
        is_plain = not (manner.spread or manner.backoff or policy.unique)
        if is_plain and all(call.job is job for call in calls):
            common = changed(blank, snapshot=policy.snapshot(job.name, {}))
            ids = new_ids(blank.created_at, len(calls))
            return Alike(common, dict(zip(ids, [call.args for call in calls], strict=True)))
        return [
            _work(call, policies.of(call), manner, blank, number)
            for number, call in enumerate(calls, first)
        ]

    def _answers(
        self, works: Collection[Work], manner: Manner, now: datetime
    ) -> Sequence[messages.Receipt]:
        """Put work in that no gate refuses; return what is said of each."""
        refused = self._refused(works)
        if not refused:
            return self._put_in(works, manner, now)
        wanted = [each for each in works if each.execution.id not in refused]
        answers = iter(self._put_in(wanted, manner, now) if wanted else ())
        return [refused.get(each.execution.id) or next(answers) for each in works]

    def _refused(self, works: Collection[Work]) -> dict[str, messages.Receipt]:
        """Return what gates that refuse pieces of work say, by the ids of those."""
        if not self._app.middleware.has_gates:
            return {}
        refused = {}
        for row in (work.execution for work in works):
            if reason := self._app.middleware.refusal(row.snapshot.job, row.snapshot.args):
                refused[row.id] = messages.Receipt(row.id, created=False, rejected_by=reason)
        return refused

    def _put_in(
        self, works: Collection[Work], manner: Manner, now: datetime
    ) -> Sequence[messages.Receipt]:
        engine = self._app.engine
        joined = caller_transaction(self._app, manner.sending.tx)
        if joined is None:
            answers = engine.store.enqueue(works)
            self._ring(engine, works, answers, now)
            return answers
        answers = transactional(engine.store).enqueue_within(joined.connection, works)
        if joined.is_silent:
            engine.bell.ring_within(joined.connection, self._born(engine, works, answers), now)
        joined.after_commit(lambda: self._ring(engine, works, answers, now))
        return answers

    def _blank(self, manner: Manner, now: datetime) -> Execution:
        """Return what the executions of a batch have in common."""
        due_at = manner.due_at(now, self._app.settings.timezone)
        return Execution(
            id="",
            kind=manner.kind,
            run_at=due_at,
            due_at=due_at,
            snapshot=Snapshot(name="", job=""),
            state=State.PENDING if self._app.engine.bell.carries else State.SCHEDULED,
            created_at=now,
        )

    def _ring(
        self,
        engine: Engine,
        works: Collection[Work],
        answers: Sequence[messages.Receipt],
        now: datetime,
    ) -> None:
        engine.bell.ring(self._born(engine, works, answers), now)

    def _born(
        self, engine: Engine, works: Collection[Work], answers: Sequence[messages.Receipt]
    ) -> list[Execution]:
        """Return the rows that have come into being, or one of many where one is enough."""
        if isinstance(works, Alike) and not engine.bell.carries:
            # A worker that queries finds them all, and one tells when to query.
            works, answers = [next(iter(works))], answers[:1]
        return [
            work.execution
            for work, answer in zip(works, answers, strict=True)
            if answer.created and answer.id == work.execution.id
        ]

    def _receipts(self, answers: Sequence[messages.Receipt]) -> list[Receipt[Any]]:
        engine = self._engine
        return [Receipt(*answer, engine) for answer in answers]

    def _engine(self) -> Engine:
        return self._app.engine


class _Policies:
    """What jobs declare, with what was given instead; read once for all calls of a job."""

    def __init__(self, declared: dict[str, WorkPolicy], manner: Manner) -> None:
        self._declared = declared
        self._manner = manner
        self._known: dict[str, WorkPolicy] = {}

    def of(self, call: Call[Any]) -> WorkPolicy:
        name = call.job.name
        known = self._known.get(name)
        if known is None:
            declared = self._declared.get(name, WorkPolicy())
            known = self._known[name] = self._manner.policy(declared)
        return known


def read_spread(spread: Duration | None) -> timedelta:
    """Return over how long starts are spread."""
    return timedelta(0) if spread is None else read_duration("spread", spread)


def _call(given: Call[Any] | Job[..., Any]) -> Call[Any]:
    return given if isinstance(given, Call) else given.bind()


def _work(
    call: Call[Any], policy: WorkPolicy, manner: Manner, blank: Execution, number: int
) -> Work:
    own = {"id": new_id(blank.created_at), "snapshot": policy.snapshot(call.job.name, call.args)}
    row = changed(blank, **own)
    if manner.spread:
        due_at = blank.due_at + manner.spread_of(number)
        row = changed(row, run_at=due_at, due_at=due_at)
    return Work(row, _unique(policy.unique, call), manner.backoff)


def _unique(unique: Unique | None, call: Call[Any]) -> messages.Unique | None:
    if unique is None:
        return None
    key = unique.key(call.job.name, call.job.complete(call.args))
    return messages.Unique(key, unique.mode, unique.period)
