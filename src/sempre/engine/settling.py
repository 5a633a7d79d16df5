"""Settling: how attempts ended, recorded in batches, each only while its claim still holds."""

from collections.abc import Sequence
from typing import NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    plan_cancelled,
    plan_crash,
    plan_failure,
    plan_interruption,
    plan_release,
    plan_skipped,
)
from sempre.domain.redaction import kept_text
from sempre.domain.results import NotJson, TooLarge, read_result
from sempre.domain.states import State
from sempre.engine.claims import Started
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.errors import StoreError, UnknownGrid
from sempre.ports.executor import Ended, Outcome
from sempre.ports.messages import Settled, Settlement, Success, View

__all__ = ["Finished", "Settler"]

TRIES = 5


class Finished(NamedTuple):
    """A started execution and how it ended; no outcome means that it is given back unfinished.

    Attributes:
        rows: the other rows of its schedule, where they matter: if its outcome is unknown.
    """

    started: Started
    outcome: Outcome | None = None
    rows: tuple[Execution, ...] = ()

    @property
    def is_unread(self) -> bool:
        """Whether its schedule or rows are not known, and matter."""
        execution, schedule = self.started
        if schedule is None and execution.schedule_id is not None:
            return True
        return self.outcome is not None and self.outcome.ended.is_unknown


class Settler:
    """Records outcomes for one process."""

    def __init__(self, engine: Engine) -> None:
        """Begin with nothing to record."""
        self._engine = engine

    def settle(self, finished: Sequence[Finished], *, session: str) -> list[Finished]:
        """Record how these ended; plan again for those whose schedule was edited meanwhile.

        Returns:
            Those whose schedule was edited again and again, or that planning cannot deal with
            here: they have to be settled once more.

        Raises:
            StoreUnavailable: nobody knows; repeating it is safe.
        """
        left = list(finished)
        self._warn_of_unstored(finished)
        if unread := [each for each in finished if each.is_unread]:
            left = [*self._read_again(unread), *(each for each in finished if not each.is_unread)]
        faulty: list[Finished] = []
        for _ in range(TRIES):
            planned = self._planned(left, faulty)
            if not planned:
                return faulty
            left = self._read_again(self._settle_once(planned, session))
        return [*left, *faulty]

    def _warn_of_unstored(self, finished: Sequence[Finished]) -> None:
        """Tell of results that are not stored, once for each job of this process."""
        warned = self._engine.unstored_results
        for (execution, _), outcome, _ in finished:
            job = execution.snapshot.job
            if outcome is None or not isinstance(outcome.result, dict) or job in warned:
                continue
            found = read_result(outcome.result)
            if isinstance(found, NotJson | TooLarge):
                warned.add(job)
                facts = {"execution": execution, "job": job, "found": found}
                self._engine.events.tell(Happened.RESULT_NOT_STORED, **facts)

    def _planned(
        self, finished: Sequence[Finished], faulty: list[Finished]
    ) -> list[tuple[Finished, Settlement]]:
        """Return ends with what is to be recorded; set those apart that cannot be planned here."""
        moment, planned = self._engine.moment(), []
        for each in finished:
            name = each.started.execution.snapshot.name
            try:
                planned.append((each, _settlement(each, moment)))
            except UnknownGrid as error:
                faulty.append(each)
                self._engine.events.tell(Happened.UNKNOWN_GRID, schedule=name, error=str(error))
            except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
                faulty.append(each)
                self._engine.events.tell(Happened.FAULTY, schedule=name, error=repr(error))
        return planned

    def _settle_once(
        self, planned: Sequence[tuple[Finished, Settlement]], session: str
    ) -> list[Finished]:
        settlements = [settlement for _, settlement in planned]
        try:
            answers = self._engine.store.settle(settlements, session=session)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad end must not stop the others
            return self._settle_apart(planned, session, error)
        again, waiting = [], []
        are_heard = self._engine.events.are_heard(Happened.SUCCEEDED)
        for (each, settlement), answer in zip(planned, answers, strict=True):
            if answer is Settled.DONE and isinstance(settlement, Success):
                if are_heard:
                    self._tell(each, settlement, answer)
            elif answer is Settled.REPLAN:
                again.append(each)
            else:
                self._tell(each, settlement, answer)
                changes = () if isinstance(settlement, Success) else settlement.plan.changes
                waiting += [change.after for change in changes if change.after.is_live]
        self._ring([each for each, _ in planned], waiting)
        return again

    def _settle_apart(
        self, planned: Sequence[tuple[Finished, Settlement]], session: str, error: Exception
    ) -> list[Finished]:
        """Record ends one by one, as the store cannot hold one of them; that one without words."""
        if len(planned) > 1:
            return [left for each in planned for left in self._settle_once([each], session)]
        [(finished, _)] = planned
        told = f"what it reported cannot be recorded: {error!r}"
        name = finished.started.execution.snapshot.name
        self._engine.events.tell(Happened.FAULTY, schedule=name, error=told)
        if finished.outcome is None:
            return [finished]
        is_well = finished.outcome.ended is Ended.SUCCEEDED
        bare = finished.outcome._replace(
            result=None, error="" if is_well else kept_text(told, limit=500), traceback=""
        )
        return [finished._replace(outcome=bare)]

    def _read_again(self, finished: Sequence[Finished]) -> list[Finished]:
        if not finished:
            return []
        ids = [each.started.execution.id for each in finished]
        found = self._engine.read(self._engine.store.candidates(ids))
        views = {each.execution.id: each.view for each in found}
        return [_seen_again(each, views.get(each.started.execution.id)) for each in finished]

    def _ring(self, finished: Sequence[Finished], waiting: list[Execution]) -> None:
        """Ring retries, and whatever waited for one of these to end."""
        bell, now = self._engine.bell, self._engine.time.now()
        names = {
            each.started.execution.snapshot.name
            for each in finished
            if each.started.schedule and each.started.execution.snapshot.overlap != "allow"
        }
        if bell.carries and names:
            views = self._engine.read(self._engine.store.views(sorted(names)))
            waiting += [
                row for view in views for row in view.rows if row.is_live and row.is_due(now)
            ]
        bell.ring(waiting, now)

    def _tell(self, finished: Finished, settlement: Settlement, answer: Settled) -> None:
        execution, outcome = finished.started.execution, finished.outcome
        tell = self._engine.events.tell
        if answer is Settled.LATE:
            tell(Happened.LATE_RESULT, execution=execution)
        elif outcome is None:
            tell(Happened.RELEASED, execution=execution)
        elif outcome.ended is Ended.SUCCEEDED:
            facts = {"seconds": outcome.seconds, "result": outcome.result}
            tell(Happened.SUCCEEDED, execution=execution, **facts)
        elif outcome.ended is Ended.CANCELLED:
            tell(Happened.CANCELLED, execution=execution, reason=outcome.error)
        elif outcome.ended is Ended.SKIPPED:
            tell(Happened.SKIPPED, execution=execution, verdict="skip", reason=outcome.error)
        else:
            tell(Happened.FAILED, execution=execution, **_failure_facts(outcome, settlement))


def _settlement(finished: Finished, moment: PlanningTime) -> Settlement:
    execution, outcome = finished.started.execution, finished.outcome
    if execution.started_at and execution.started_at > moment.now:
        # Between two readings the store's now is a guess: nothing ends before it began.
        moment = moment._replace(now=execution.started_at)
    if outcome is not None and outcome.ended is Ended.SUCCEEDED:
        return Success(execution, moment.now, outcome.result)
    plan = _plan(finished, moment)
    if outcome is None:
        return Settlement(execution, plan)
    return Settlement(execution, plan, outcome.result, outcome.traceback or outcome.error)


def _plan(finished: Finished, moment: PlanningTime) -> Plan:
    execution, schedule = finished.started.execution, finished.started.schedule
    outcome = finished.outcome
    if outcome is None:
        return plan_release(schedule, execution, moment)
    if outcome.ended is Ended.CANCELLED:
        return plan_cancelled(execution, moment, reason=outcome.error)
    if outcome.ended is Ended.SKIPPED:
        return plan_skipped(execution, moment, reason=outcome.error)
    if outcome.ended is Ended.CRASHED:
        return plan_crash(schedule, execution, finished.rows, moment, error=outcome.error)
    if outcome.ended is Ended.INTERRUPTED:
        return plan_interruption(schedule, execution, finished.rows, moment, error=outcome.error)
    return plan_failure(schedule, execution, moment, error=outcome.error)


def _seen_again(finished: Finished, view: View | None) -> Finished:
    """Return the same end beside its schedule and rows as they are now."""
    started = Started(finished.started.execution, view.schedule if view else None)
    return Finished(started, finished.outcome, view.rows if view else ())


def _failure_facts(outcome: Outcome, settlement: Settlement) -> dict[str, object]:
    after = settlement.plan.changes[0].after if settlement.plan.changes else None
    retries = after is not None and after.state is State.SCHEDULED
    return {
        "seconds": outcome.seconds,
        "error": outcome.error,
        "traceback": outcome.traceback,
        "retry_at": after.due_at if after and retries else None,
    }
