"""Claims: from candidates to running executions with their successors, in two round trips.

Candidates are read and planned, and one atomic operation carries all plans out. The store refuses a
plan if another worker has changed the schedule or claimed the row since the reading; then the plan
is made again from a fresh reading. A plan that is refused again is made inside the store operation,
before the next edit: edits that never end cannot keep a slot from starting. A start that was
planned before its slot is due (`engine.prefetch`) needs no reading.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import keys_of
from sempre.domain.planning import Claim, Plan, PlanningTime, Verdict, plan_claim
from sempre.domain.states import LIVE, Reason, State
from sempre.domain.values import copy_with
from sempre.engine.core import Engine, born_by
from sempre.engine.events import Happened
from sempre.engine.prefetch import Prefetch
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import UnknownGrid
from sempre.ports.executor import Run
from sempre.ports.messages import Candidate, Order, Reading, Wanted

__all__ = ["ClaimResult", "Claims"]

TRIES = 3


@dataclass
class ClaimResult:
    """What became of candidates.

    Attributes:
        started: executions of this worker now, as runs.
        born: successors that need a ticket; empty where the broker carries no messages.
        coming: when successors are due, by id.
        early: when executions that are not due yet will be, by id.
        blocked: executions that wait for another execution; its end rings them.
        unroutable: executions whose job or grid is unknown here, or that cannot be read here;
            other workers may start them.
        refused: executions that another worker claimed or changed first.
        passed_over: executions that were left as they are, for any reason.
        unstarted: executions with a limit that did not start: others may have room now.
        waited: executions that start late because a switch or another run held them.
    """

    started: list[Run] = field(default_factory=list)
    born: list[Execution] = field(default_factory=list)
    coming: dict[str, datetime] = field(default_factory=dict)
    early: dict[str, datetime] = field(default_factory=dict)
    blocked: set[str] = field(default_factory=set)
    unroutable: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    passed_over: set[str] = field(default_factory=set)
    unstarted: list[Execution] = field(default_factory=list)
    waited: set[str] = field(default_factory=set)

    def leave(self, execution_id: str) -> None:
        """Leave an execution, and its ticket, to workers that can read it and know its grid."""
        self.passed_over.add(execution_id)
        self.unroutable.add(execution_id)

    def add(self, other: "ClaimResult") -> None:
        """Add what became of other candidates."""
        self.started += other.started
        self.born += other.born
        self.coming |= other.coming
        self.early |= other.early
        self.blocked |= other.blocked
        self.unroutable |= other.unroutable
        self.refused |= other.refused
        self.passed_over |= other.passed_over
        self.unstarted += other.unstarted
        self.waited |= other.waited

    def add_retry(self, ids: Iterable[str], retry: "ClaimResult") -> None:
        """Add what became of candidates that had been refused."""
        self.refused.difference_update(ids)
        self.add(retry)


class Claims:
    """Claims executions for one session."""

    def __init__(self, engine: Engine, spec: WorkerSpec) -> None:
        """Claim for a worker of this specification."""
        self._engine = engine
        self._spec = spec
        self._wanted = spec.wanted
        self._expects_one_off = False
        self._refused: set[str] = set()
        self.prefetch = Prefetch(engine, self._wanted)

    def by_ids(self, ids: Sequence[str], *, session: str) -> ClaimResult:
        """Claim the executions of these ids that may start now."""
        result = self._take_by_ids(ids, session) if self._expects_one_off else ClaimResult()
        begun = {run.execution.id for run in result.started}
        left = [each for each in ids if each not in begun]
        for _ in range(TRIES - 1):
            if not left:
                return result
            orders, tried = self._plan_all(self._engine.store.candidates(left))
            tried.add(self._carry_out(orders, session))
            result.add_retry(left, tried)
            left = sorted(tried.refused)
        if left:
            result.add_retry(left, self._claim_exclusively(left, session))
        return result

    def open_limits(self, result: ClaimResult) -> None:
        """Free executions that may start instead of those that did not, once runs have begun."""
        if result.unstarted:
            self._engine.limits.open(keys_of(result.unstarted))

    def due(self, wanted: Wanted, *, session: str, past: int = 0) -> ClaimResult:
        """Claim due slots straight from the store, reading `past` rows more than are wanted."""
        wider = copy_with(wanted, limit=wanted.limit + past)
        if self.prefetch.has_any and wanted.overdue is None:
            orders, result = self._plan_unprefetched(wider)
        else:
            self.prefetch.doubt()
            orders, result = self._plan_all(self._engine.store.due(wider))
        result.add(self._carry_out(orders, session, most=wanted.limit))
        again = self._refused & result.refused
        # Every other time: if the store refuses this session, neither way helps.
        self._refused = set() if again else set(result.refused)
        if again:
            result.add_retry(again, self._claim_exclusively(sorted(again), session))
        if result.refused:
            self.prefetch.doubt()
        return result

    def planned(self, ids: Sequence[str], *, session: str, limit: int) -> ClaimResult:
        """Claim slots of these ids whose starts are planned, without reading anything."""
        result = self._start(self.prefetch.take_planned(ids, limit), session)
        self._refused = set(result.refused)
        return result

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> ClaimResult:
        """Claim one-off work that is due, in one round trip; of these ids, if any are given."""
        began = self._begin()
        taken = self._engine.read(
            self._engine.store.claim_one_off(wanted, session=session, ids=ids)
        )
        self._trace(began, taken)
        settings = self._engine.settings
        result = ClaimResult([self._spec.run(execution, None, settings) for execution in taken])
        self._report_started(result.started)
        return result

    def _take_by_ids(self, ids: Sequence[str], session: str) -> ClaimResult:
        """Claim one-off work of these ids; ids of other kinds are left to be read.

        Tried as long as the last tickets were of one-off work: most tickets are like those before.
        """
        result = self.claim_one_off(
            copy_with(self._wanted, limit=len(ids)), session=session, ids=ids
        )
        self._expects_one_off = bool(result.started)
        return result

    # Plans

    def _plan_unprefetched(self, wanted: Wanted) -> tuple[list[Order], ClaimResult]:
        """Return orders for due slots, in their order, reading only those without a plan."""
        found, ids = self.prefetch.due(wanted)
        result = ClaimResult()
        if rest := [each for each in ids if each not in found]:
            orders, result = self._plan_all(self._engine.store.candidates(rest))
            found |= {order.plan.decides: order for order in orders}
        return [found[each] for each in ids if each in found], result

    def _plan_all(self, reading: Reading[list[Candidate]]) -> tuple[list[Order], ClaimResult]:
        """Return orders for candidates, and what became of those that are left as they are."""
        moment = PlanningTime(reading.now, self._engine.tzdata)
        orders, result = [], ClaimResult()
        for unread in reading.unreadable:
            result.leave(unread.missing)
        for candidate in self._engine.read(reading):
            self._expects_one_off = self._expects_one_off or candidate.view is None
            claim = self._plan(candidate, moment, result)
            if claim is not None and not claim.plan.is_empty:
                orders.append(self._engine.order(claim.plan))
            else:
                result.passed_over.add(candidate.execution.id)
        return orders, result

    def _plan(
        self, candidate: Candidate, moment: PlanningTime, result: ClaimResult
    ) -> Claim | None:
        """Plan for one candidate, and note in `result` why the candidate does not start."""
        row, view = candidate.execution, candidate.view
        name, events = row.snapshot.name, self._engine.events
        if row.snapshot.job not in self._wanted.jobs:
            result.unroutable.add(row.id)
            events.emit(Happened.UNROUTABLE, execution=row)
            return None
        try:
            schedule, rows = (view.schedule, view.rows) if view else (None, ())
            claim = plan_claim(schedule, row, rows, moment, stopped_by=candidate.stopped_by)
        except UnknownGrid as error:
            result.leave(row.id)
            events.emit(Happened.UNKNOWN_GRID, schedule=name, error=str(error))
            return None
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            events.emit(Happened.FAULTY, schedule=name, error=repr(error))
            return None
        if claim.verdict is Verdict.EARLY:
            result.early[row.id] = row.due_at
        elif claim.verdict is Verdict.WAIT:
            result.blocked.add(row.id)
            result.unstarted += [row] if row.snapshot.limits and not row.held_by else []
        elif _has_waited(row, rows):
            result.waited.add(row.id)
        return claim

    # Orders

    def _carry_out(
        self, orders: Sequence[Order], session: str, *, most: int | None = None
    ) -> ClaimResult:
        """Start at most so many executions, and record every other decision."""
        result = self._start([each for each in orders if each.plan.has_start][:most], session)
        result.add(self._decide([each for each in orders if not each.plan.has_start]))
        return result

    def _start(self, orders: Sequence[Order], session: str) -> ClaimResult:
        if not orders:
            return ClaimResult()
        began = self._begin()
        answers = self._engine.store.claim(orders, session=session)
        self._trace(began, [each for each in answers if each is not None])
        return self._note(orders, answers)

    def _begin(self) -> int | None:
        """Return when a claim begins, if spans are recorded."""
        tracer = self._engine.tracer
        return None if tracer is None else tracer.begin_claim()

    def _trace(self, began: int | None, started: Sequence[Execution]) -> None:
        if began is not None and started and self._engine.tracer is not None:
            self._engine.tracer.claimed(began, started)

    def _decide(self, orders: Sequence[Order]) -> ClaimResult:
        if not orders:
            return ClaimResult()
        return self._note(orders, self._engine.store.apply(orders))

    def _claim_exclusively(self, ids: Sequence[str], session: str) -> ClaimResult:
        """Read, plan and claim in one store operation, which no edit can come between."""
        planned: tuple[list[Order], ClaimResult] = [], ClaimResult()

        def plan(reading: Reading[list[Candidate]]) -> list[Order]:
            nonlocal planned
            planned = self._plan_all(reading)
            return planned[0]

        answers = self._engine.store.claim_exclusively(ids, plan, session=session)
        orders, result = planned
        result.add(self._note(orders, answers))
        return result

    def _note(
        self, orders: Iterable[Order], answers: Iterable[Execution | bool | None]
    ) -> ClaimResult:
        """Return what became of orders by the answers of the store, and report it."""
        result = ClaimResult()
        for order, answer in zip(orders, answers, strict=True):
            result.unstarted += _unstarted(order, started=isinstance(answer, Execution))
            if not answer:
                result.refused.add(order.plan.decides)
                continue
            if isinstance(answer, Execution):
                run = self._spec.run(answer, order.plan.schedule, self._engine.settings)
                result.started.append(run)
                self.prefetch.follow(order, answer)
            self._note_born(order, result)
            self._engine.report_grid(order.plan)
            self._report_skipped(order.plan)
        self._report_started(result.started)
        return result

    def _note_born(self, order: Order, result: ClaimResult) -> None:
        drafts = zip(order.ids, order.plan.creates, strict=True)
        result.coming |= {key: draft.due_at for key, draft in drafts if draft.state in LIVE}
        if self._engine.bell.carries:
            result.born += born_by(order, self._engine.time.now())

    def _report_skipped(self, plan: Plan) -> None:
        """Report the slots that a plan skips, or misses, and why."""
        for change in plan.changes:
            verdict = _VERDICTS.get(change.after.state)
            if verdict is Verdict.SKIP or (verdict and change.before.id == plan.decides):
                facts = {"verdict": verdict.value, "reason": change.after.reason}
                self._engine.events.emit(Happened.SKIPPED, execution=change.before, **facts)

    def _report_started(self, runs: Iterable[Run]) -> None:
        if not self._engine.events.has_listener(Happened.STARTED):
            return
        now = self._engine.time.now()
        for run in runs:
            began = run.execution.started_at or now
            late = (began - run.execution.due_at).total_seconds()
            self._engine.events.emit(Happened.STARTED, execution=run.execution, late=late)


def _has_waited(row: Execution, rows: Iterable[Execution]) -> bool:
    """Return whether a switch held a row, or another run of its schedule ended after it was due."""
    if row.reason.startswith(Reason.HELD):
        return True
    return any(each.finished_at and each.finished_at > row.due_at for each in rows)


def _unstarted(order: Order, *, started: bool) -> list[Execution]:
    """Return the executions with limits that an order was about and that do not run now."""
    changes = [change for change in order.plan.changes if change.before.snapshot.limits]
    runs = State.RUNNING if started else None
    return [change.before for change in changes if change.after.state is not runs]


_VERDICTS = {State.SKIPPED: Verdict.SKIP, State.MISSED: Verdict.MISS}
