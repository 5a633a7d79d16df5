"""Stores with one kept bug each, of the kind that real ones have had; the contracts find all."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from sempre.clock import SystemClock
from sempre.domain.action import Action
from sempre.domain.execution import Execution
from sempre.domain.planning import Plan
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.load import Record
from sempre.ports.messages import (
    Attempt,
    Birth,
    Cancelled,
    Candidate,
    Enqueued,
    ExecutionQuery,
    Order,
    Page,
    Pass,
    Reading,
    Report,
    Rollup,
    Session,
    Settled,
    Settlement,
    Switch,
    Tick,
    View,
    Wanted,
    Work,
)
from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged
from sempre.ports.run_logs import RunLog
from sempre.stores.exclusive_claims import Planner
from sempre.stores.memory import MemoryStore
from sempre.stores.memory.work import is_alive

HOUR = timedelta(hours=1)


class FencesByAttempt(MemoryStore):
    """Counts attempts where a fence is asked for."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        found = super().claim(orders, session=session)
        return [each and copy_with(each, fence=each.attempt) for each in found]


class ClaimsEarly(MemoryStore):
    """Judges what is due by a clock that is ahead."""

    def __init__(self) -> None:
        self._swift = _Swift()
        super().__init__(self._swift)

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        self._swift.ahead = HOUR / 2 + timedelta(minutes=1)
        try:
            return super().claim(orders, session=session)
        finally:
            self._swift.ahead = timedelta()


class _Swift(SystemClock):
    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


class ClaimsForAnyone(MemoryStore):
    """Does not ask whether the session has a lease."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        self.register(Session(session), lease=HOUR)
        return super().claim(orders, session=session)


class IgnoresSwitches(MemoryStore):
    """Looks at switches when it lists, not when it claims."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        switches, self.tables.switches = self.tables.switches, {}
        try:
            return super().claim(orders, session=session)
        finally:
            self.tables.switches = switches


class AppliesInParts(MemoryStore):
    """Writes one change after the other, without a transaction."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        for order in orders:
            parts = [Order(Plan(changes=(change,))) for change in order.plan.changes]
            if not all(super().apply(parts)):
                return [False] * len(orders)
            super().apply([Order(replace(order.plan, changes=()), order.ids)])
        return [True] * len(orders)


class LastWriterWins(MemoryStore):
    """Applies a plan to whatever the schedule is by now."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        return super().apply([self._rebased(order) for order in orders])

    def _rebased(self, order: Order) -> Order:
        base = order.plan.base and self.tables.schedules.get(order.plan.base.id)
        return replace(order, plan=replace(order.plan, base=base)) if base else order


class RepeatsOrders(MemoryStore):
    """Gives created rows ids of its own, so that it cannot know an order again."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        fresh = [replace(each, ids=tuple(str(uuid4()) for _ in each.ids)) for each in orders]
        return super().apply(fresh)


class LetsZombiesSettle(MemoryStore):
    """Settles by id, whoever holds the execution by now."""

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        for each in settlements:
            row = self.tables.executions[each.execution.id]
            self.tables.put(copy_with(each.plan.changes[0].after, fence=row.fence, session=session))
        return [Settled.DONE] * len(settlements)


class RenewsTheRetired(MemoryStore):
    """Lets a session come back that was retired."""

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        self.tables.sessions.setdefault(session, Session(session))
        return super().tick(session, wanted, lease=lease)


class BuriesTheLiving(MemoryStore):
    """Renews no session that a clock has made expire."""

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        known = self.tables.sessions.get(session)
        if known is not None and not is_alive(known, self.clock.now()):
            self.retire(session)
        return super().tick(session, wanted, lease=lease)


class TakesFromTheLiving(MemoryStore):
    """Applies a rescue that was planned before the session showed life again."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        sessions, self.tables.sessions = self.tables.sessions, {}
        try:
            return super().apply(orders)
        finally:
            self.tables.sessions = sessions


class KeepsWhatPassed(MemoryStore):
    """Forgets nothing of slots that are still to come."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        plans = [replace(each.plan, retracts_after=None) for each in orders]
        kept = [replace(each, plan=plan) for each, plan in zip(orders, plans, strict=True)]
        return super().apply(kept)


class TrustsItsClock(MemoryStore):
    """Finds no schedule that is ahead of the clock."""

    def needing_repair(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        found = super().needing_repair(tzdata=tzdata, limit=limit)
        return replace(
            found, value=[each for each in found.value if each.schedule.cursor <= found.now]
        )


class ChecksThenInserts(MemoryStore):
    """Looks for a duplicate in one step and inserts in another."""

    def enqueue(self, works: Collection[Work]) -> list[Enqueued]:
        unique, keyed = dict(self.tables.unique), dict(self.tables.keyed)
        receipts = []
        for work in works:
            self.tables.unique = dict(unique)
            self.tables.keyed = defaultdict(set, keyed)
            receipts += super().enqueue([work])
        return receipts


class PassesAlways(MemoryStore):
    """Begins a pass for whoever asks."""

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        self.tables.maintenance = None
        return super().begin_pass(holder=holder, every=every)


class PurgesBySlot(MemoryStore):
    """Forgets skipped slots that are still to come."""

    def purge(self, purge: Purge) -> Purged:
        rows = list(self.tables.executions.values())
        for row in rows:
            if row.state is State.SKIPPED and row.run_at < purge.before:
                self.tables.put(copy_with(row, state=State.SUPERSEDED))
        return super().purge(purge)


class JudgesBySlot(MemoryStore):
    """Takes the newest slot for the last outcome, whichever run ended last."""

    def outcomes(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        reading = super().outcomes(schedule_ids, limit=limit)
        pairs = reading.value.items()
        by_slot = {each: sorted(rows, key=lambda row: row.run_at)[::-1] for each, rows in pairs}
        return replace(reading, value={each: tuple(rows) for each, rows in by_slot.items()})


class RoundsToMilliseconds(MemoryStore):
    """Keeps instants as a database with a coarser column does."""

    def create(self, births: Sequence[Birth]) -> list[bool]:
        return super().create([self._rounded(birth) for birth in births])

    def _rounded(self, birth: Birth) -> Birth:
        cursor = birth.schedule.cursor
        coarse = cursor.replace(microsecond=cursor.microsecond // 1000 * 1000)
        return replace(birth, schedule=copy_with(birth.schedule, cursor=coarse))


class ComparesWithoutCase(MemoryStore):
    """Finds names as a collation does."""

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        folded = {each.name.casefold(): each.name for each in self.tables.schedules.values()}
        return super().views([folded.get(name.casefold(), name) for name in names])


class PagesByCounting(MemoryStore):
    """Pages history by offset."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        offset = int(query.after or 0)
        whole = super().executions(replace(query, after="", limit=10_000))
        page = whole.value.items[offset : offset + query.limit]
        end = offset + len(page)
        after = str(end) if end < len(whole.value.items) else ""
        return Reading(whole.now, Page(page, after))


class CutsTheWhole(MemoryStore):
    """Takes so many rows of all schedules together."""

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        found = super().latest(schedule_ids, limit=limit)
        rows = [row for each in found.value.values() for row in each][:limit]
        kept = {each: tuple(r for r in rows if r.schedule_id == each) for each in found.value}
        return replace(found, value=kept)


class ForgetsPriority(MemoryStore):
    """Shows what is due by time alone."""

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        found = super().due(wanted)
        return replace(found, value=sorted(found.value, key=lambda each: each.execution.due_at))


class StarvesTheLast(MemoryStore):
    """Takes by priority, however long the others have waited."""

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        return super().claim_one_off(replace(wanted, overdue=None), session=session, ids=ids)


class TellsNobodyOfLeases(MemoryStore):
    """Finds what has expired by the session's absence alone."""

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        found = super().expired(limit)
        gone = [c for c in found.value if c.execution.session not in self.tables.sessions]
        return replace(found, value=gone)


class RunsForEverybody(MemoryStore):
    """Tells a session what all sessions run."""

    def running(self, session: str) -> Reading[list[Execution]]:
        held = [super(RunsForEverybody, self).running(each) for each in self.tables.sessions]
        rows = [row for reading in held for row in reading.value]
        return Reading(super().running(session).now, rows)


class RemembersRequests(MemoryStore):
    """Keeps a request to cancel by the execution, whichever attempt it was about."""

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        asked = self.tables.cancelled
        for identity in asked:
            asked[identity] = self.tables.executions[identity].fence
        return super().tick(session, wanted, lease=lease)


class CancelsNextRows(MemoryStore):
    """Ends whatever waits."""

    def cancel(
        self,
        ids: Sequence[str],
        *,
        actor: str = "",
        actions: Sequence[Action] = (),  # noqa: ARG002 - of the port
    ) -> list[Cancelled]:
        for row in [self.tables.executions[each] for each in ids]:
            if row.is_live:
                self.tables.put(row.to(State.CANCELLED, actor=actor))
        return [Cancelled.ENDED] * len(ids)


class DecidesPastSwitches(MemoryStore):
    """Looks at switches when it claims, not when it applies."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        ignorant = [replace(each, plan=replace(each.plan, decides="")) for each in orders]
        return super().apply(ignorant)


class ListsWhatIsOver(MemoryStore):
    """Lists switches that are on again by themselves."""

    def switches(self) -> Reading[list[Switch]]:
        now = super().switches().now
        return Reading(now, sorted(self.tables.switches.values(), key=lambda each: each.name))


class BelievesEverybody(MemoryStore):
    """Keeps what anybody reports of an execution."""

    def report(self, reports: Sequence[Report], *, session: str) -> None:  # noqa: ARG002 - that is the bug
        for each in reports:
            self.tables.reports[each.execution_id] = each


class AcceptsForgedLogs(MemoryStore):
    """Stores the log of any run of an execution that exists, from any session."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:  # noqa: ARG002 - that is the bug
        for each in logs:
            if each.execution_id in self.tables.executions:
                self.tables.run_logs.setdefault(each.execution_id, {})[each.fence] = each


class DropsLateLogs(MemoryStore):
    """Stores logs of claims that the session still holds, and no others."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        held = {row.fence for row in self.running(session).value}
        super().write_logs([each for each in logs if each.fence in held], session=session)


class KeepsLogsForever(MemoryStore):
    """Deletes executions without their logs."""

    def purge(self, purge: Purge) -> Purged:
        logs = {**self.tables.run_logs}
        purged = super().purge(purge)
        self.tables.run_logs.update(logs)
        return purged


class RetriesBesideOthers(MemoryStore):
    """Looks at unique keys when work is put in, and never again."""

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        self.tables.unique_of.clear()
        return super().settle(settlements, session=session)


class ForgetsLosses(MemoryStore):
    """Records only what workers say."""

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        found = super().attempts(execution_id)
        return replace(found, value=[each for each in found.value if not each.lost])


class PurgesTheLiving(MemoryStore):
    """Forgets sessions by the instant alone, though they still hold their lease."""

    def purge(self, purge: Purge) -> Purged:
        for session in list(self.tables.sessions.values()):
            if session.leased_until and session.leased_until < purge.before:
                self.retire(session.id)
        return super().purge(purge)


class KeepsByAgeAlone(MemoryStore):
    """Purges the newest executions of a schedule too if they are old."""

    def purge(self, purge: Purge) -> Purged:
        return super().purge(replace(purge, keep=0))


class ForgetsWhatWasKept(MemoryStore):
    """Purges what it examines, and nothing that it kept before."""

    def purge(self, purge: Purge) -> Purged:
        kept = [row for row in self.tables.executions.values() if _was_examined(row, purge)]
        done = super().purge(purge)
        for row in kept:
            self.tables.put(row)
        return done


def _was_examined(row: Execution, purge: Purge) -> bool:
    if not purge.after or row.ended_at is None:
        return False
    return PageKey(row.ended_at, row.id) <= PageKey.read(purge.after)


class PurgesUnderAnyRetention(MemoryStore):
    """Purges executions whose schedule has a retention of its own."""

    def purge(self, purge: Purge) -> Purged:
        return super().purge(replace(purge, retention="any"))


class PurgesRangesWithExecutions(MemoryStore):
    """Deletes the record of slots that did not run as soon as executions are old."""

    def purge(self, purge: Purge) -> Purged:
        self.purge_ranges(before=purge.before, limit=purge.limit)
        return super().purge(purge)


class CountsKindsTogether(MemoryStore):
    """Counts purged executions of any kind in one number."""

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        found = super().rollups(schedule_id)
        return replace(found, value=[replace(each, kind=None) for each in found.value])


class PlansInTheOpen(MemoryStore):
    """Lets others write while it plans an exclusive claim."""

    def claim_exclusively(
        self, ids: Sequence[str], plan: Planner, *, session: str
    ) -> list[Execution | bool]:
        orders = plan(self.candidates(ids))
        return [each or False for each in self.claim(orders, session=session)]


class LosesRanges(MemoryStore):
    """Starts without recording the slots that were given up for it."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        bare = [replace(each, plan=replace(each.plan, ranges=())) for each in orders]
        return super().claim(bare, session=session)


class LosesSuccessors(MemoryStore):
    """Starts without writing what comes next."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        bare = [Order(replace(each.plan, creates=())) for each in orders]
        return super().claim(bare, session=session)


class FencesAnew(MemoryStore):
    """Gives every claim the same fence."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        found = super().claim(orders, session=session)
        same = [each and copy_with(each, fence=1) for each in found]
        for each in same:
            if each is not None:
                self.tables.put(each)
        return same


class DrainsOnce(MemoryStore):
    """Forgets a drain as soon as one tick has told the worker."""

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        reading = super().tick(session, wanted, lease=lease)
        if reading.value.drain:
            known = self.tables.sessions[session]
            self.tables.sessions[session] = copy_with(known, draining=False)
        return reading


class FindsIdsAnywhere(MemoryStore):
    """Finds ids that contain a text, not only those that begin with it."""

    def execution_ids(self, prefix: str, *, limit: int) -> Reading[list[str]]:
        found = [each for each in self.tables.executions if prefix.lower() in each]
        return Reading(self.clock.now(), sorted(found, reverse=True)[:limit])


class LoadsOverWhatItKnows(MemoryStore):
    """Writes each execution that is loaded, as if nothing had happened since."""

    def load(self, records: Sequence[Record]) -> int:
        for each in records:
            if isinstance(each, Execution) and each.id in self.tables.executions:
                self.tables.put(each)
        return super().load(records)


class LoadsAttemptsOfNothing(MemoryStore):
    """Keeps attempts of executions that it does not have."""

    def load(self, records: Sequence[Record]) -> int:
        for each in records:
            if isinstance(each, Attempt) and each.execution_id not in self.tables.executions:
                self.tables.attempts[each.execution_id].append(each)
        return super().load(records)
