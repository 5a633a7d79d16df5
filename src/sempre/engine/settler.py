"""The settler: records how runs ended, in batches, each only while its claim still holds."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import keys_of
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    plan_cancelled,
    plan_crash,
    plan_failure,
    plan_given_up,
    plan_interruption,
    plan_release,
    plan_retry_later,
    plan_skipped,
)
from sempre.domain.redaction import kept_text
from sempre.domain.results import NotJson, TooLarge, read_result
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.errors import StoreError, UnknownGrid
from sempre.ports.executor import Ended, Outcome, Run
from sempre.ports.messages import Settled, Settlement, Success, View

__all__ = ["End", "Settler"]

TRIES = 5

End = tuple[Run, Outcome]
"""A run that is over."""

# Schedules and their rows, read anew for ends by the id of the execution; None if there is none.
Views = Mapping[str, View | None]


class Settler:
    """Records outcomes for one process."""

    def __init__(self, engine: Engine) -> None:
        """Record in the store of an engine."""
        self._engine = engine

    def settle(self, ends: Sequence[End], *, session: str) -> list[End]:
        """Record how runs ended; plan again for those whose schedule was edited meanwhile.

        Returns:
            Ends that have to be settled once more: their schedule was edited again and again, or
            cannot be planned here.

        Raises:
            StoreUnavailable: whether the ends are recorded is unknown; repeating is safe.
        """
        self._warn_of_unstored(ends)
        left, unplanned = list(ends), list[End]()
        views = self._read_views([end for end in ends if _needs_view(end)])
        for _ in range(TRIES):
            planned, faulty = self._plan_all(left, views)
            unplanned += faulty
            if not planned:
                return unplanned
            left = self._settle_once(planned, session)
            views = self._read_views(left)
        return [*left, *unplanned]

    def _warn_of_unstored(self, ends: Sequence[End]) -> None:
        """Report results that are not stored, once for each job of this process."""
        warned = self._engine.unstored_results
        for run, outcome in ends:
            job = run.execution.snapshot.job
            if not isinstance(outcome.result, dict) or job in warned:
                continue
            found = read_result(outcome.result)
            if isinstance(found, NotJson | TooLarge):
                warned.add(job)
                facts = {"execution": run.execution, "job": job, "found": found}
                self._engine.events.emit(Happened.RESULT_NOT_STORED, **facts)

    def _plan_all(
        self, ends: Sequence[End], views: Views
    ) -> tuple[list[tuple[End, Settlement]], list[End]]:
        """Return ends with their settlements, and ends that cannot be planned here."""
        moment, planned, faulty = self._engine.moment(), [], []
        for end in ends:
            name = end[0].execution.snapshot.name
            try:
                planned.append((end, _settlement(end, views, moment)))
            except UnknownGrid as error:
                faulty.append(end)
                self._engine.events.emit(Happened.UNKNOWN_GRID, schedule=name, error=str(error))
            except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
                faulty.append(end)
                self._engine.events.emit(Happened.FAULTY, schedule=name, error=repr(error))
        return planned, faulty

    def _settle_once(self, planned: Sequence[tuple[End, Settlement]], session: str) -> list[End]:
        """Record settlements; return ends that have to be planned again."""
        settlements = [settlement for _, settlement in planned]
        try:
            answers = self._engine.store.settle(settlements, session=session)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad end must not stop the others
            return self._settle_apart(planned, session, error)
        again, waiting = [], []
        has_listener = self._engine.events.has_listener(Happened.SUCCEEDED)
        for (end, settlement), answer in zip(planned, answers, strict=True):
            if answer is Settled.DONE and isinstance(settlement, Success):
                if has_listener:
                    self._report(end, settlement, answer)
            elif answer is Settled.REPLAN:
                again.append(end)
            else:
                self._report(end, settlement, answer)
                changes = () if isinstance(settlement, Success) else settlement.plan.changes
                waiting += [change.after for change in changes if change.after.is_live]
        self._ring([end for end, _ in planned], waiting)
        self._engine.limits.open(keys_of(run.execution for (run, _), _ in planned))
        return again

    def _settle_apart(
        self, planned: Sequence[tuple[End, Settlement]], session: str, error: Exception
    ) -> list[End]:
        """Record ends one by one; the one that the store cannot hold, without its text."""
        if len(planned) > 1:
            return [left for each in planned for left in self._settle_once([each], session)]
        [((run, outcome), _)] = planned
        reason = f"what it reported cannot be recorded: {error!r}"
        name = run.execution.snapshot.name
        self._engine.events.emit(Happened.FAULTY, schedule=name, error=reason)
        if outcome.ended is Ended.RELEASED:
            return [(run, outcome)]
        text = "" if outcome.ended is Ended.SUCCEEDED else kept_text(reason, limit=500)
        return [(run, outcome._replace(result=None, error=text, traceback=""))]

    def _read_views(self, ends: Sequence[End]) -> Views:
        """Return the schedules of ends, with the rows that planning reads, as they are now."""
        if not ends:
            return {}
        ids = [run.execution.id for run, _ in ends]
        found = self._engine.read(self._engine.store.candidates(ids))
        return dict.fromkeys(ids) | {each.execution.id: each.view for each in found}

    def _ring(self, ends: Sequence[End], waiting: list[Execution]) -> None:
        """Ring retries, and slots that waited for one of these runs to end."""
        bell, now = self._engine.bell, self._engine.time.now()
        rows = (run.execution for run, _ in ends)
        names = {
            row.snapshot.name for row in rows if row.schedule_id and row.snapshot.overlap != "allow"
        }
        if bell.carries and names:
            views = self._engine.read(self._engine.store.views(sorted(names)))
            waiting += [
                row for view in views for row in view.rows if row.is_live and row.is_due(now)
            ]
        bell.ring(waiting, now)

    def _report(self, end: End, settlement: Settlement, answer: Settled) -> None:
        run, outcome = end
        execution, emit = run.execution, self._engine.events.emit
        if run.span is not None:
            emit = partial(emit, traceparent=run.span.traceparent)
        if answer is Settled.LATE:
            emit(Happened.LATE_RESULT, execution=execution)
        elif outcome.ended is Ended.RELEASED:
            emit(Happened.RELEASED, execution=execution)
        elif outcome.ended is Ended.SUCCEEDED:
            facts = {"seconds": outcome.seconds, "result": outcome.result}
            emit(Happened.SUCCEEDED, execution=execution, **facts)
        elif outcome.ended is Ended.CANCELLED:
            emit(Happened.CANCELLED, execution=execution, reason=outcome.error)
        elif outcome.ended is Ended.SKIPPED:
            emit(Happened.SKIPPED, execution=execution, verdict="skip", reason=outcome.error)
        elif outcome.ended is Ended.RETRY_LATER and (retry_at := _retry_at(settlement)):
            told = {"seconds": outcome.seconds, "reason": outcome.error, "retry_at": retry_at}
            emit(Happened.RETRY_LATER, execution=execution, **told)
        else:
            emit(Happened.FAILED, execution=execution, **_failure_facts(outcome, settlement))


def _needs_view(end: End) -> bool:
    """Whether the schedule of an end, or its other rows, are not known and matter."""
    run, outcome = end
    if run.schedule is None and run.execution.schedule_id is not None:
        return True
    return outcome.ended.is_unknown


def _settlement(end: End, views: Views, moment: PlanningTime) -> Settlement:
    execution, outcome = end[0].execution, end[1]
    if execution.started_at and execution.started_at > moment.now:
        # Between two readings the store's now is a guess: nothing ends before it began.
        moment = moment._replace(now=execution.started_at)
    if outcome.ended is Ended.SUCCEEDED:
        return Success(execution, moment.now, outcome.result)
    plan = _plan(end, views, moment)
    error = outcome.traceback or _reason(outcome, plan)
    return Settlement(execution, plan, outcome.result, error)


def _plan(end: End, views: Views, moment: PlanningTime) -> Plan:
    run, outcome = end
    execution, schedule = run.execution, run.schedule
    rows: Sequence[Execution] = ()
    if execution.id in views:
        view = views[execution.id]
        schedule, rows = (view.schedule, view.rows) if view else (None, ())
    if outcome.ended is Ended.RELEASED:
        return plan_release(schedule, execution, moment)
    if outcome.ended is Ended.CRASHED:
        return plan_crash(schedule, execution, rows, moment, error=outcome.error)
    if outcome.ended is Ended.INTERRUPTED:
        return plan_interruption(schedule, execution, rows, moment, error=outcome.error)
    return _plan_known(schedule, execution, outcome, moment)


def _plan_known(
    schedule: Schedule | None, execution: Execution, outcome: Outcome, moment: PlanningTime
) -> Plan:
    """Plan the end of a run whose job has returned control, or whose time is over."""
    if outcome.ended is Ended.CANCELLED:
        return plan_cancelled(execution, moment, reason=outcome.error)
    if outcome.ended is Ended.SKIPPED:
        return plan_skipped(execution, moment, reason=outcome.error)
    if outcome.ended is Ended.GAVE_UP:
        return plan_given_up(execution, moment, reason=outcome.error)
    if outcome.ended is Ended.RETRY_LATER and outcome.after is not None:
        after, reason = outcome.after, outcome.error
        return plan_retry_later(schedule, execution, moment, after=after, reason=reason)
    return plan_failure(schedule, execution, moment, error=outcome.error, types=outcome.types)


def _reason(outcome: Outcome, plan: Plan) -> str:
    """Return the line about an end: with its kind, where the job itself has decided the end."""
    decided = outcome.ended in (Ended.RETRY_LATER, Ended.GAVE_UP)
    return plan.changes[0].after.reason if decided and plan.changes else outcome.error


def _retry_at(settlement: Settlement) -> datetime | None:
    """Return when an execution starts again; None if its end is final."""
    after = settlement.plan.changes[0].after if settlement.plan.changes else None
    return after.due_at if after and after.state is State.SCHEDULED else None


def _failure_facts(outcome: Outcome, settlement: Settlement) -> dict[str, object]:
    return {
        "seconds": outcome.seconds,
        "error": _reason(outcome, settlement.plan),
        "traceback": outcome.traceback,
        "retry_at": _retry_at(settlement),
    }
