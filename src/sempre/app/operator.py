"""The operator of a store: its schedules, executions and switches, its watchdog and its log."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sempre.app.changes.application import Application, Applied
from sempre.app.changes.change_plan import ChangePlan
from sempre.app.changes.planner import Planner
from sempre.app.composition import Composition, current_user
from sempre.app.declarations import Declarations
from sempre.app.executions.catalog import Executions, Filters, states_of
from sempre.app.executions.stored_execution import StoredExecution
from sempre.app.forecast.forecasts import forecast_of
from sempre.app.forecast.reading import Chosen
from sempre.app.jobs import Job
from sempre.app.options import Duration
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.app.statement import MonthStatement, Selected
from sempre.app.switches import StoredSwitch, target_of
from sempre.app.why.questions import why_execution, why_slot
from sempre.clock import Clock
from sempre.domain.action import Action
from sempre.domain.explanation import Explanation
from sempre.domain.forecast import Forecast
from sempre.domain.statement.period import month_period
from sempre.domain.states import Kind, State
from sempre.engine.core import Engine
from sempre.engine.watchdog import Watchdog
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_point
from sempre.ports.messages import ActionQuery
from sempre.ports.pages import walk_pages

__all__ = ["Operator"]

PAGE = 500


class Operator:
    """Operates a store: reads it and changes it as its user asks, and logs each change.

    Args:
        composition: the store, broker and engine of this process.
        declarations: the jobs that this process knows.
    """

    def __init__(self, composition: Composition, declarations: Declarations) -> None:
        """Connect to nothing yet."""
        self.composition = composition
        self.declarations = declarations

    @property
    def engine(self) -> Engine:
        """The engine of this process, made and set up when it is first needed."""
        return self.composition.engine

    @property
    def clock(self) -> Clock:
        """The clock of this process; on virtual time, the virtual one."""
        return self.composition.clock

    @property
    def actor(self) -> str:
        """The name under which actions of this process are logged: its user."""
        return current_user()

    @property
    def schedules(self) -> Schedules:
        """All schedules of the store."""
        return Schedules(self.engine, actor=self.actor, tasks=self.declarations.tasks)

    @property
    def watchdog(self) -> Watchdog:
        """The watchdog: its message on the broker and its pass."""
        return Watchdog(self.engine)

    @property
    def plan(self) -> Planner:
        """Previews of changes: `app.plan.edit("bill", cron="0 3 * * *")`; nothing is written."""
        declared = self.declarations
        return Planner(
            self.engine, actor=self.actor, tasks=declared.tasks, schedules=declared.schedules
        )

    def apply(self, plan: ChangePlan, *, late: bool = False) -> list[Applied]:
        """Do what a plan has previewed, one commit for each step, in order; see `Application`.

        Raises:
            MovedOn: the store has changed since the plan was made.
        """
        tasks = self.declarations.tasks
        return list(Application(self.engine, actor=self.actor, tasks=tasks, late=late).apply(plan))

    def schedule(self, name: str) -> StoredSchedule:
        """Return one schedule of the store, to be read or operated."""
        return self.schedules[name]

    def executions(
        self,
        *,
        state: str | State | Sequence[str | State] | None = None,
        kind: str | Kind | None = None,
        schedule: str | None = None,
        job: str | None = None,
        tag: str | None = None,
        since: datetime | str | Duration | None = None,
        until: datetime | str | Duration | None = None,
    ) -> Executions:
        """Return executions of the store, newest slot first: to iterate over, or to act on.

            for execution in app.executions(state="failed", since="1h", job="charge"): ...
            list(app.executions(state="failed", since="1h").retry(why="the bank is back"))

        `ranges()` of the answer has the slots that passed without an execution. Slots are chosen by
        their instant, or by a length of time before now.
        """
        kinds = frozenset() if kind is None else frozenset({Kind(kind)})
        filters = Filters(
            states=states_of(state),
            kinds=kinds,
            schedule=schedule,
            job=job,
            tag=tag,
            since=since,
            until=until,
        )
        return Executions(self.engine, filters, actor=self.actor)

    def execution(self, identity: str) -> StoredExecution:
        """Return one execution of the store, to be read, retried, cancelled or discarded."""
        return StoredExecution(self.engine, identity, actor=self.actor)

    def statement(
        self,
        *,
        month: str,
        schedule: str | None = None,
        job: str | None = None,
        tag: str | None = None,
        zone: str | None = None,
        late: Duration | None = None,
    ) -> MonthStatement:
        """Return the statement of a month: the slots that grids demanded, and what happened.

            for each in app.statement(month="2026-03", zone="Europe/Rome"):
                print(each.name, each.totals.demanded, each.totals.outcomes)

        Args:
            month: as in "2026-03".
            schedule: only the schedule of this name.
            job: only schedules of this job.
            tag: only schedules with this tag.
            zone: the zone of the calendar; default: the `timezone` of the application, or UTC.
            late: the lateness from which a run counts as late; default: the tolerance of each
                schedule.
        """
        period = month_period(month, zone or self.engine.settings.timezone or "UTC")
        selected = Selected(schedule, job, tag)
        limit = None if late is None else read_duration("late", late)
        return MonthStatement(self.engine, period, selected, late=limit)

    def switch(self, named: "str | Job[..., Any]") -> StoredSwitch:
        """Return a switch: `app.switch("provisioning").off("incident 42", until="2h")`.

        Args:
            named: a job, the name of a declared job or tag, or `job:NAME`, `queue:NAME`,
                `tag:NAME`, `pair:JOB` or `all`.

        Raises:
            NamingError: no declared job or tag has that name.
        """
        name = f"job:{named.name}" if isinstance(named, Job) else named
        target = target_of(name, jobs=self.declarations.tasks, tags=self.declarations.tags)
        return StoredSwitch(lambda: self.engine, target, actor=self.actor)

    def forecast(
        self,
        *,
        start: datetime | timedelta | str | None = None,
        length: timedelta | str = "7d",
        tag: str | None = None,
        job: str | None = None,
        queue: str | None = None,
        timezone: str | None = None,
        capacity: int | None = None,
    ) -> Forecast:
        """Return the expected starts and concurrency per minute, from grids and past durations.

        Args:
            start: an instant, or a length of time from now; by default now.
            length: up to 31 days.
            tag: only schedules with this tag.
            job: only schedules of this job.
            queue: only schedules of this queue.
            timezone: the zone of days and hours; by default that of the application, or UTC.
            capacity: the runs that your workers can have in flight at once, to compare with.
        """
        return forecast_of(
            self.engine,
            Chosen(tag=tag, job=job, queue=queue),
            start=start,
            length=length,
            timezone=timezone,
            capacity=capacity,
        )

    def actions(
        self,
        *,
        target: str | None = None,
        verb: str | None = None,
        actor: str | None = None,
        since: datetime | str | Duration | None = None,
    ) -> Iterator[Action]:
        """Yield the log of actions, newest first: who changed what, from what, to what, and why.

        Args:
            target: `schedule:NAME`, `execution:ID`, `switch:NAME`, `job:NAME` or `worker:ID`.
            verb: such as pause, edit or retry.
            actor: who acted.
            since: an instant, or a length of time before now, such as "1h".
        """
        engine, begin = self.engine, None
        if since is not None:
            zone = engine.settings.timezone
            begin = read_point("since", since, now=engine.present, ago=True, timezone=zone)
        query = ActionQuery(target=target, verb=verb, actor=actor, since=begin, limit=PAGE)
        yield from walk_pages(
            lambda after: engine.read(engine.store.actions(replace(query, after=after)))
        )

    def why(self, named: str, *, at: datetime | str | None = None) -> Explanation:
        """Explain why a slot or an execution is as it is, from the records of the store.

            app.why("billing", at="2026-03-29T02:30").causes
            app.why("01935c5e-8b1f-7d2e-a1b0-6c2f1d9e4a77").verdict

        Args:
            named: the name of a schedule, or the id of an execution if `at` is left out.
            at: the time of the slot; without an offset, on the clocks of the schedule's zone.

        Raises:
            NotFound: there is no such schedule or execution.
        """
        if at is None:
            return why_execution(self.engine, named)
        return why_slot(self.engine, named, at)
