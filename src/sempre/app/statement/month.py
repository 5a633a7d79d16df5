"""The statement of a month: every schedule's slots against what happened, read as a stream.

A statement holds one schedule in memory at a time, and a bounded number of its slots.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sempre.app.statement.deleted import deleted_schedules
from sempre.app.statement.reading import Reader
from sempre.domain.action import Action
from sempre.domain.redaction import redacted_text
from sempre.domain.schedule import Schedule
from sempre.domain.statement.account import Account, ScheduleStatement, Totals
from sempre.domain.statement.daily_totals import daily_total_notes
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.domain.statement.period import Period
from sempre.domain.statement.walk import Walk
from sempre.engine.core import Engine
from sempre.errors import NotFound
from sempre.ports.messages import Page, ScheduleQuery
from sempre.ports.pages import walk_pages

__all__ = ["MonthStatement", "Selected"]

PAGE = 500
MOST_EXCEPTIONS = 1000


@dataclass(frozen=True)
class Selected:
    """Which schedules a statement is about; None for any."""

    schedule: str | None = None
    job: str | None = None
    tag: str | None = None

    def matches(self, schedule: Schedule) -> bool:
        """Whether a schedule is asked for."""
        declared = schedule.definition
        return (
            self.schedule in (None, schedule.name)
            and self.job in (None, declared.job)
            and (self.tag is None or self.tag in declared.tags)
        )


class MonthStatement:
    """The slots that the grids of a store demanded in a month, against what happened.

        statement = app.statement(month="2026-03", zone="Europe/Rome")
        for each in statement:
            print(each.name, each.totals.demanded, each.totals.unexplained)
        print(statement.totals.demanded)

    Attributes:
        period: the month.
        made_at: when the statement was made, by the clock of the store; slots after it are not
            demanded yet.
        store: the identity of the store.
        late: the lateness from which a run counts as late; None for the tolerance of each schedule.
        notes: what the statement leaves out; complete after the last schedule.
    """

    def __init__(
        self, engine: Engine, period: Period, selected: Selected, *, late: timedelta | None = None
    ) -> None:
        """Read the present time of the store; schedules are read later."""
        self._engine, self._selected = engine, selected
        self._reader = Reader(engine, period)
        self._account = Account()
        self.period = period
        self.made_at: datetime = engine.present()
        self.store = engine.store.uuid
        self.late = late
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[ScheduleStatement]:
        """Yield the statement of each schedule, by name, deleted schedules last."""
        self._account, self.notes = Account(), []
        for schedule in self._schedules():
            found = self._of(schedule)
            self._account.add_totals(found.totals)
            yield found

    @property
    def totals(self) -> Totals:
        """The sums of the schedules that were read; complete after the last schedule."""
        return self._account.totals()

    def page(self, *, limit: int, after: str = "", text: str = "") -> Page[ScheduleStatement]:
        """Return the statements of a page of schedules by name, and where the next page begins.

        Deleted schedules are left out. The totals are the sums of the page.

        Raises:
            NotFound: the schedule that was asked for is unknown.
        """
        selected, self._account, self.notes = self._selected, Account(), []
        if selected.schedule is not None:
            return Page(tuple(self))
        query = ScheduleQuery(
            text=text, job=selected.job, tag=selected.tag, limit=limit, after=after
        )
        found = self._engine.read(self._engine.store.schedules(query))
        items = [self._of(each) for each in found.items if each.created_at < self.period.end]
        for each in items:
            self._account.add_totals(each.totals)
        return Page(tuple(items), found.after)

    def slots(self) -> Iterator[tuple[str, SlotEntry]]:
        """Yield every slot with its outcome, with the name of its schedule, in order."""
        self._account, self.notes = Account(), []
        for schedule in self._schedules():
            walk = self._walk(schedule, self._reader.actions(schedule))
            for entry in self._entries(schedule, walk):
                self._account.add(entry)
                yield schedule.name, entry
            self._account.add_runs(walk.replaced, walk.other_counts)

    def _schedules(self) -> Iterator[Schedule]:
        """Yield the schedules that existed in the month.

        Raises:
            NotFound: the schedule that was asked for is unknown.
        """
        known = False
        for schedule in self._existing():
            known = True
            if schedule.created_at < self.period.end:
                yield schedule
        deleted, lost = deleted_schedules(
            self._engine, self._reader, self.period, wanted=self._selected.schedule
        )
        for schedule in filter(self._selected.matches, deleted):
            known = True
            yield schedule
        wanted = self._selected.schedule
        if lost:
            listed = ", ".join(lost[:5]) + (" and others" if len(lost) > 5 else "")  # noqa: PLR2004
            why = "deleted since the month began, and no execution of the month is on record"
            self.notes.append(f"Not included: {listed}: {why}.")
        elif wanted is not None and not known:
            raise NotFound("schedule", wanted)

    def _existing(self) -> Iterator[Schedule]:
        selected = self._selected
        if selected.schedule is not None:
            view = self._engine.read_one(self._engine.store.views([selected.schedule]))
            yield from [view.schedule] if view and selected.matches(view.schedule) else []
            return
        query = ScheduleQuery(job=selected.job, tag=selected.tag, limit=PAGE)
        schedules, read = self._engine.store.schedules, self._engine.read
        yield from walk_pages(lambda after: read(schedules(replace(query, after=after))))

    def _walk(self, schedule: Schedule, actions: Sequence[Action]) -> Walk:
        records = self._reader.records(schedule, actions)
        return Walk(records, self.period, now=self.made_at, late=self.late)

    def _entries(self, schedule: Schedule, walk: Walk) -> Iterator[SlotEntry]:
        """Yield the slots of a schedule; reasons, which may be errors, have no secrets."""
        patterns = (*self._engine.settings.redact, *schedule.definition.redact)
        for entry in walk.entries():
            reason = redacted_text(entry.reason, patterns) if entry.reason else ""
            yield entry if reason == entry.reason else replace(entry, reason=reason)

    def _of(self, schedule: Schedule) -> ScheduleStatement:
        actions = self._reader.actions(schedule)
        walk, account = self._walk(schedule, actions), Account()
        exceptions: list[SlotEntry] = []
        left_out = 0
        for entry in self._entries(schedule, walk):
            account.add(entry)
            if entry.outcome is Outcome.ON_TIME:
                continue
            if len(exceptions) < MOST_EXCEPTIONS:
                exceptions.append(entry)
            else:
                left_out += 1
        account.add_runs(walk.replaced, walk.other_counts)
        totals = account.totals()
        return ScheduleStatement(
            name=schedule.name,
            job=schedule.definition.job,
            when=schedule.definition.grid.explain(),
            totals=totals,
            exceptions=tuple(exceptions),
            exceptions_left_out=left_out,
            runs=tuple(walk.other_runs),
            revisions=walk.revisions,
            changes=self._reader.changes_in_month(actions),
            notes=tuple(self._notes(schedule, walk, totals)),
            deleted=schedule.deleted,
        )

    def _notes(self, schedule: Schedule, walk: Walk, totals: Totals) -> Iterator[str]:
        if schedule.deleted:
            yield "Deleted since; found by its executions."
        if schedule.definition.grid.relative:
            yield "Its grid counts from slot to slot: records alone show which slots were demanded."
        elif not walk.is_known:
            yield (
                "A change of its definition is not in the log of actions: around the change, "
                "records alone show which slots were demanded."
            )
        yield from daily_total_notes(totals, self.period)
