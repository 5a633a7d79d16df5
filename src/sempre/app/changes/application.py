"""The application of a plan: each step in one commit, if the store is as the plan found it.

A plan has moved on, and is refused, if

- it is for another store;
- a schedule has another revision or state, or a name that was free is taken;
- a slot that the plan adds or removes has come since, or an execution that the plan ends has
  started or ended: what the preview promised can no longer happen.

A waiting execution that the plan replaces at its own slot may have started since: its successor is
replaced in its place. A step that is found done, by an earlier application of the same plan, is
left out, so that an application that stopped half way is repeated.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sempre.app.changes.change_plan import Base, ChangePlan, Ended, PlannedStep, ended_of
from sempre.app.changes.planner import KeptPlan
from sempre.app.schedules.catalog import Schedules
from sempre.domain.declaration import declared_definition
from sempre.domain.planning import Plan
from sempre.engine.core import ActOfPlan, Engine
from sempre.errors import NotFound, Refused
from sempre.errors.changes import MovedOn
from sempre.errors.wording import written_instant
from sempre.ports.executor import Task
from sempre.ports.messages import ActionQuery, Order

__all__ = ["Application", "Applied"]

NAMED = 3


@dataclass(frozen=True)
class Applied:
    """A step that was carried out.

    Attributes:
        done: False if the step had been carried out before.
        next_run_at: the next slot of the schedule; None without one.
    """

    name: str
    verb: str
    done: bool
    next_run_at: datetime | None = None


class Application:
    """Applies plans to the store of an engine.

    Args:
        engine: of the store.
        actor: who applies the plan, for the log of actions.
        tasks: the jobs that this process knows.
        late: whether a plan is applied although slots that it changes have passed since; they
            stay as they are.
    """

    def __init__(
        self, engine: Engine, *, actor: str, tasks: Mapping[str, Task], late: bool = False
    ) -> None:
        """Read nothing yet."""
        self._engine = engine
        self._actor = actor
        self._tasks = tasks
        self._late = late

    def apply(self, plan: ChangePlan) -> Iterator[Applied]:
        """Yield each step once it is committed.

        Raises:
            MovedOn: before the first step, if the store has moved on for any of them; later, if
                it moves on meanwhile: the steps before stay.
        """
        self._check_all(plan)
        for done, planned in enumerate(plan.steps):
            try:
                yield self._applied(planned, plan.made_at)
            except _Moved as moved:
                raise MovedOn([str(moved)], done=done) from None

    def _check_all(self, plan: ChangePlan) -> None:
        """Raise MovedOn, naming every schedule, if the plan is not for the store as it is."""
        if plan.store != self._engine.store.uuid:
            raise MovedOn([f"it was made for the store {plan.store}, and this is another store"])
        reasons = []
        for planned in plan.steps:
            try:
                self._check(planned, plan.made_at)
            except _Moved as moved:
                reasons.append(str(moved))
        if reasons:
            raise MovedOn(reasons)

    def _check(self, planned: PlannedStep, made_at: datetime) -> None:
        if planned.step.verb == "create":
            if self._is_taken(planned):
                raise _Moved(self._story(planned.step.name, "was created since", made_at))
        elif planned.base is not None:
            self._perform(planned, made_at, KeptPlan())

    def _applied(self, planned: PlannedStep, made_at: datetime) -> Applied:
        step = planned.step
        if step.verb == "create":
            schedules = Schedules(self._engine, actor="code")
            done = schedules.create_many([step.declared], release=step.release) == [True]
            if not done:
                self._check(planned, made_at)
        else:
            done = self._perform(planned, made_at, self._engine.carry_out)
        return Applied(step.name, step.verb, done, self._next_slot(step.name))

    def _perform(self, planned: PlannedStep, made_at: datetime, carry_out: "_CarryOut") -> bool:
        """Carry out a step by a plan that fits its promises; False if it was done before."""
        done = False

        def checked(plan_again: "_Planning", *, act: ActOfPlan = None) -> Order | None:
            def plan() -> Plan | None:
                nonlocal done
                found = plan_again()
                if found is None:
                    raise NotFound("schedule", planned.step.name)
                done = not self._is_done(planned, found)
                if done:
                    self._check_promise(planned, found, made_at)
                return found

            return carry_out(plan, act=act)

        try:
            planned.step.perform(self._engine, checked, actor=self._actor, tasks=self._tasks)
        except NotFound:
            if planned.step.verb == "delete":
                return False
            raise _Moved(self._story(planned.step.name, "is gone", made_at)) from None
        except Refused as refused:
            # The schedule has changed, or an instant has passed, such as the end of a pause.
            self._check_base(planned, made_at)
            raise _Moved(str(refused).rstrip(".")) from None
        return done

    def _is_done(self, planned: PlannedStep, plan: Plan) -> bool:
        """Whether a step changes nothing, since it was carried out before."""
        base = plan.base
        return plan.is_empty and base is not None and base.revision == planned.revision

    def _check_promise(self, planned: PlannedStep, plan: Plan, made_at: datetime) -> None:
        if planned.base is not None and plan.base is not None:
            self._compare(planned, planned.base, Base.of(plan.base), made_at)
            if not self._late:
                self._check_slots(planned, plan)

    def _check_base(self, planned: PlannedStep, made_at: datetime) -> None:
        """Raise _Moved if the schedule of a step is not as the plan found it."""
        for view in self._engine.read(self._engine.store.views([planned.step.name])):
            if planned.base is not None:
                self._compare(planned, planned.base, Base.of(view.schedule), made_at)

    def _compare(self, planned: PlannedStep, base: Base, now: Base, made_at: datetime) -> None:
        name = planned.step.name
        if now.id != base.id:
            raise _Moved(self._story(name, "was created anew", made_at))
        if now.revision != base.revision:
            change = f"has changed since: revision {base.revision}, now {now.revision}"
            raise _Moved(self._story(name, change, made_at))
        if now.state != base.state:
            raise _Moved(f"{name} has revision {now.revision}, and another definition than then")

    def _check_slots(self, planned: PlannedStep, plan: Plan) -> None:
        name, until = planned.step.name, planned.holds_until
        if until is not None and until <= self._engine.time.now():
            slot = f"the slot {written_instant(until)} of {name} has come"
            raise _Moved(f"{slot}, which the plan changes; --late leaves such slots as they are")
        then, now = set(planned.ended), set(ended_of(plan))
        for each in sorted(then - now):
            raise _Moved(f"{_named(each, name)} no longer waits")
        for each in sorted(now - then):
            raise _Moved(f"{_named(each, name)} waits since, and would be {each.state}")

    def _is_taken(self, planned: PlannedStep) -> bool:
        """Whether a name to create is taken by a schedule that this plan has not created."""
        wanted = planned.step.declared.definition
        for view in self._engine.read(self._engine.store.views([planned.step.name])):
            said = declared_definition(view.schedule.declared)
            return said is None or not said.is_same_as(wanted)
        return False

    def _next_slot(self, name: str) -> datetime | None:
        views = self._engine.read(self._engine.store.views([name]))
        return views[0].schedule.next_run_at if views else None

    def _story(self, name: str, change: str, since: datetime) -> str:
        """Return a change of a schedule in words, with the log of actions since an instant."""
        query = ActionQuery(target=f"schedule:{name}", since=since, limit=NAMED)
        actions = self._engine.read(self._engine.store.actions(query)).items
        told = [
            f"{each.verb} by {each.actor or 'unknown'}"
            + (f" at {written_instant(each.at.replace(microsecond=0))}" if each.at else "")
            for each in actions
        ]
        who = ", ".join(told) or "no entry in the log of actions"
        return f"{name} {change} ({who})"


class _Moved(Exception):
    """A step whose schedule has moved on."""


_Planning = Callable[[], Plan | None]
_CarryOut = Callable[..., Order | None]


def _named(ended: Ended, name: str) -> str:
    return f"the execution {ended.id} of {name}, slot {written_instant(ended.slot)},"
