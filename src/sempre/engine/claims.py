"""Claiming: from candidates to running executions with their successors, in two round trips.

Read, plan, then one atomic operation for all of them. A plan that was refused, because others
changed the schedule or took the row meanwhile, is made again from a fresh reading. A plan that is
refused again is made inside the store operation, before the next edit: edits that never end cannot
keep a slot from starting. What was prepared before it was due need not be read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.planning import Claim, Plan, PlanningTime, Verdict, plan_claim
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, State
from sempre.domain.values import copy_with
from sempre.engine.core import Engine, born_by
from sempre.engine.events import Happened
from sempre.engine.prefetch import Judged, Prefetch
from sempre.errors import UnknownGrid
from sempre.ports.messages import Candidate, Order, Reading, Wanted

__all__ = ["Catch", "Claims", "Started"]

TRIES = 3


class Started(NamedTuple):
    """An execution that now runs under our session, and the schedule it was planned with."""

    execution: Execution
    schedule: Schedule | None = None


@dataclass
class Catch:
    """What became of the candidates.

    Attributes:
        started: they are ours; run them.
        born: successors that the broker has to be told of; none where it carries nothing.
        coming: when successors are due, by id.
        early: not due yet, by id.
        blocked: they wait for another execution; its end rings them.
        unroutable: their job or grid is unknown here, or they cannot be read; others may know.
        refused: others were faster.
        passed_over: all that were left as they are, whatever the reason.
    """

    started: list[Started] = field(default_factory=list)
    born: list[Execution] = field(default_factory=list)
    coming: dict[str, datetime] = field(default_factory=dict)
    early: dict[str, datetime] = field(default_factory=dict)
    blocked: set[str] = field(default_factory=set)
    unroutable: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    passed_over: set[str] = field(default_factory=set)


class Claims:
    """Claims executions for one session."""

    def __init__(self, engine: Engine, *, wanted: Wanted) -> None:
        """Claim what is wanted only."""
        self._engine = engine
        self._wanted = wanted
        self._jobs = wanted.jobs
        self._expects_one_off = False
        self._refused: set[str] = set()
        self.prefetch = Prefetch(engine, wanted)

    def by_ids(self, ids: Sequence[str], *, session: str) -> Catch:
        """Claim the executions of these ids that may start now."""
        catch = self._take_these(ids, session) if self._expects_one_off else Catch()
        begun = {each.execution.id for each in catch.started}
        left = [each for each in ids if each not in begun]
        for _ in range(TRIES - 1):
            if not left:
                return catch
            catch.refused = set()
            judged = self._judge_all(self._engine.store.candidates(left), catch)
            self._carry_out(judged, catch, session)
            left = sorted(catch.refused)
        if left:
            self._claim_exclusively(left, catch, session)
        return catch

    def due(self, wanted: Wanted, *, session: str, past: int = 0) -> Catch:
        """Claim what is due of schedules, straight from the store, looking past so many more."""
        catch = Catch()
        wider = copy_with(wanted, limit=wanted.limit + past)
        if self.prefetch.has_any and wanted.overdue is None:
            judged = self._judge_prepared(wider, catch)
        else:
            self.prefetch.doubt()
            judged = self._judge_all(self._engine.store.due(wider), catch)
        self._carry_out(judged, catch, session, most=wanted.limit)
        again = self._refused & catch.refused
        # Every other time: if it is our session that is refused, neither way helps.
        self._refused = set() if again else set(catch.refused)
        if again:
            self._claim_exclusively(sorted(again), catch, session)
        if catch.refused:
            self.prefetch.doubt()
        return catch

    def planned(self, ids: Sequence[str], *, session: str, limit: int) -> Catch:
        """Claim slots of these ids whose starts are planned, without reading anything."""
        catch = Catch()
        self._start(self.prefetch.take_planned(ids, limit), catch, session)
        self._refused = set(catch.refused)
        return catch

    def take(self, wanted: Wanted, *, session: str) -> Catch:
        """Claim one-off work that is due, in one round trip."""
        taken = self._engine.read(self._engine.store.take(wanted, session=session))
        catch = Catch([Started(execution) for execution in taken])
        self._tell_started(catch.started)
        return catch

    def _take_these(self, ids: Sequence[str], session: str) -> Catch:
        """Claim one-off work of these ids as fast as can be; what else they are stays to be read.

        Tried as long as the last tickets spoke of such work: most tickets are like those before.
        """
        wanted = copy_with(self._wanted, limit=len(ids))
        taken = self._engine.read(self._engine.store.take(wanted, session=session, ids=ids))
        self._expects_one_off = bool(taken)
        catch = Catch([Started(execution) for execution in taken])
        self._tell_started(catch.started)
        return catch

    def _judge_prepared(self, wanted: Wanted, catch: Catch) -> list[Judged]:
        """Judge what is due, in its order, reading only what was not prepared."""
        found, ids = self.prefetch.due(wanted)
        if rest := [each for each in ids if each not in found]:
            judged = self._judge_all(self._engine.store.candidates(rest), catch)
            found |= {each.row.id: each for each in judged}
        return [found[each] for each in ids if each in found]

    def _judge_all(self, reading: Reading[list[Candidate]], catch: Catch) -> list[Judged]:
        moment = PlanningTime(reading.now, self._engine.tzdata)
        judged = []
        for unread in reading.unreadable:
            self._leave(unread.missing, catch)
        for candidate in self._engine.read(reading):
            self._expects_one_off = self._expects_one_off or candidate.view is None
            claim = self._judge(candidate, moment, catch)
            if claim is not None and not claim.plan.is_empty:
                order = self._engine.order(claim.plan)
                reason = str(claim.reason)
                judged.append(Judged(candidate.execution, claim.verdict, reason, order))
            else:
                catch.passed_over.add(candidate.execution.id)
        return judged

    def _carry_out(
        self, judged: Sequence[Judged], catch: Catch, session: str, *, most: int | None = None
    ) -> None:
        starts = [each for each in judged if each.verdict is Verdict.START][:most]
        others = [each for each in judged if each.verdict is not Verdict.START]
        self._start(starts, catch, session)
        self._decide(others, catch)

    def _claim_exclusively(self, ids: Sequence[str], catch: Catch, session: str) -> None:
        """Read, plan and claim in one store operation, which no edit can come between."""
        catch.refused -= set(ids)
        judged: list[Judged] = []

        def plan(reading: Reading[list[Candidate]]) -> list[Order]:
            judged[:] = self._judge_all(reading, catch)
            return [each.order for each in judged]

        answers = self._engine.store.claim_exclusively(ids, plan, session=session)
        pairs = list(zip(judged, answers, strict=True))
        starts = [pair for pair in pairs if pair[0].verdict is Verdict.START]
        others = [pair for pair in pairs if pair[0].verdict is not Verdict.START]
        self._note_starts(starts, catch)
        self._note_decisions(others, catch)

    def _judge(self, candidate: Candidate, moment: PlanningTime, catch: Catch) -> Claim | None:
        row, view = candidate.execution, candidate.view
        if row.snapshot.job not in self._jobs:
            catch.unroutable.add(row.id)
            self._engine.events.tell(Happened.UNROUTABLE, execution=row)
            return None
        try:
            schedule, rows = (view.schedule, view.rows) if view else (None, ())
            claim = plan_claim(schedule, row, rows, moment, stopped_by=candidate.stopped_by)
        except UnknownGrid as error:
            name = row.snapshot.name
            self._leave(row.id, catch)
            self._engine.events.tell(Happened.UNKNOWN_GRID, schedule=name, error=str(error))
            return None
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            self._engine.events.tell(Happened.FAULTY, schedule=row.snapshot.name, error=repr(error))
            return None
        if claim.verdict is Verdict.EARLY:
            catch.early[row.id] = row.due_at
        elif claim.verdict is Verdict.WAIT:
            catch.blocked.add(row.id)
        return claim

    def _leave(self, identity: str, catch: Catch) -> None:
        """Leave an execution to workers that can read it and know its grid, and its ticket too."""
        catch.passed_over.add(identity)
        catch.unroutable.add(identity)

    def _start(self, judged: Sequence[Judged], catch: Catch, session: str) -> None:
        if not judged:
            return
        executions = self._engine.store.claim([each.order for each in judged], session=session)
        self._note_starts(zip(judged, executions, strict=True), catch)

    def _note_starts(
        self, answers: Iterable[tuple[Judged, Execution | bool | None]], catch: Catch
    ) -> None:
        started = []
        for each, execution in answers:
            if not isinstance(execution, Execution):
                catch.refused.add(each.row.id)
                continue
            started.append(Started(execution, each.order.plan.schedule))
            self.prefetch.follow(each.order, execution)
            self._note_born(each.order, catch)
            self._engine.tell_of_grid(each.order.plan)
            self._tell_overlapped(each.order.plan)
        catch.started += started
        self._tell_started(started)

    def _decide(self, judged: Sequence[Judged], catch: Catch) -> None:
        if not judged:
            return
        done = self._engine.store.apply([each.order for each in judged])
        self._note_decisions(zip(judged, done, strict=True), catch)

    def _note_decisions(
        self, answers: Iterable[tuple[Judged, Execution | bool]], catch: Catch
    ) -> None:
        for each, applied in answers:
            if not applied:
                catch.refused.add(each.row.id)
                continue
            self._note_born(each.order, catch)
            self._engine.tell_of_grid(each.order.plan)
            facts = {"verdict": each.verdict.value, "reason": each.reason}
            self._engine.events.tell(Happened.SKIPPED, execution=each.row, **facts)

    def _note_born(self, order: Order, catch: Catch) -> None:
        drafts = zip(order.ids, order.plan.creates, strict=True)
        catch.coming |= {key: draft.due_at for key, draft in drafts if draft.state in LIVE}
        if self._engine.bell.carries:
            catch.born += born_by(order, self._engine.time.now())

    def _tell_overlapped(self, plan: Plan) -> None:
        """Tell of a slot that was skipped since an earlier attempt of what starts ran into it."""
        for change in () if plan.is_plain else plan.changes:
            if change.after.state is State.SKIPPED:
                facts = {"verdict": Verdict.SKIP.value, "reason": change.after.reason}
                self._engine.events.tell(Happened.SKIPPED, execution=change.before, **facts)

    def _tell_started(self, started: Iterable[Started]) -> None:
        if not self._engine.events.are_heard(Happened.STARTED):
            return
        now = self._engine.time.now()
        for each in started:
            begun = each.execution.started_at or now
            late = (begun - each.execution.due_at).total_seconds()
            self._engine.events.tell(Happened.STARTED, execution=each.execution, late=late)
