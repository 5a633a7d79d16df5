"""The planner: previews edits, verbs and deploys by the code that carries them out."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Unpack

from sempre.app.changes.change_plan import ChangePlan, PlannedStep
from sempre.app.changes.step import Step
from sempre.app.changes.switch_preview import SwitchPreview, preview_switch
from sempre.app.options import Duration, EditOptions
from sempre.app.schedules.creation import Declared
from sempre.app.schedules.deploy import Deploy
from sempre.app.schedules.deploy_target import KeptDecision, Rehearsal
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.config import Settings
from sempre.domain.planning import Plan
from sempre.domain.preview import Preview, Window, preview_of
from sempre.domain.switch import Switch
from sempre.engine.core import ActOfPlan, Engine
from sempre.errors import Contended, NotFound
from sempre.ports.executor import Task
from sempre.ports.messages import Order

__all__ = ["KeptPlan", "Planner"]

TRIES = 5


class KeptPlan:
    """Carries out nothing: keeps the plan of a verb."""

    def __init__(self) -> None:
        """Begin without a plan."""
        self.plan: Plan | None = None

    def __call__(
        self,
        plan_again: Callable[[], Plan | None],
        *,
        act: ActOfPlan = None,  # noqa: ARG002 - nothing is logged
    ) -> Order | None:
        """Make the plan, and keep it."""
        self.plan = plan_again()
        return None


class Planner:
    """Plans changes of schedules, without writing to the store.

    Args:
        engine: of the store.
        actor: who would make the changes.
        tasks: the jobs that this process knows.
        schedules: what the code of this process declares.
        days: how many days a preview covers.
        listed: how many slots each list of a preview names.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        actor: str,
        tasks: Mapping[str, Task],
        schedules: Mapping[str, Declared],
        days: float = 90,
        listed: int = 10,
    ) -> None:
        """Read nothing yet."""
        self._engine = engine
        self._actor = actor
        self._tasks = tasks
        self._schedules = schedules
        self._length, self._listed = timedelta(days=days), listed

    def covering(self, days: float, *, listed: int = 10) -> "Planner":
        """Return a planner whose previews cover this many days."""
        known = {"actor": self._actor, "tasks": self._tasks, "schedules": self._schedules}
        return Planner(self._engine, days=days, listed=listed, **known)  # type: ignore[arg-type]

    # Verbs

    def edit(self, name: str, **options: Unpack[EditOptions]) -> ChangePlan:
        """Plan `schedule.edit(...)`."""
        given: dict[str, Any] = dict(options)
        why = str(given.pop("why", ""))

        def step(plan: Plan) -> Step:
            after = plan.schedule
            assert after is not None  # noqa: S101 - an edit is of a schedule
            decides = "enabled" in given
            return Step(
                verb="edit", name=name, definition=after.definition, decides=decides, note=why
            )

        return self._plan([name], lambda each: each.edit(**given), lambda _: step)

    def pause(
        self, *names: str, until: datetime | str | Duration | None = None, note: str = ""
    ) -> ChangePlan:
        """Plan `schedule.pause(...)`; an `until` in a length of time counts from now."""

        def step(name: str, plan: Plan) -> Step:
            pause = plan.schedule.pause if plan.schedule else None
            end = pause.until if pause else None
            return Step(verb="pause", name=name, until=end, note=note)

        return self._plan(
            names, lambda each: each.pause(until=until, note=note), lambda name: partial(step, name)
        )

    def resume(self, *names: str, why: str = "") -> ChangePlan:
        """Plan `schedule.resume()`."""
        return self._simple("resume", names, why)

    def enable(self, *names: str, why: str = "") -> ChangePlan:
        """Plan `schedule.enable()`."""
        return self._simple("enable", names, why)

    def disable(self, *names: str, why: str = "") -> ChangePlan:
        """Plan `schedule.disable()`."""
        return self._simple("disable", names, why)

    def delete(self, *names: str, why: str = "") -> ChangePlan:
        """Plan `schedule.delete()`."""
        return self._simple("delete", names, why)

    def skip(self, name: str, run_at: datetime | str | None = None, *, why: str = "") -> ChangePlan:
        """Plan `schedule.skip(run_at)`, by default of the next slot."""
        slots: list[datetime] = []

        def step(_plan: Plan) -> Step:
            return Step(verb="skip", name=name, run_at=slots[-1], note=why)

        return self._plan([name], lambda each: slots.append(each.skip(run_at)), lambda _: step)

    def switch_off(self, switch: Switch) -> SwitchPreview:
        """Preview a switch: `app.plan.switch_off(app.switch("mail").planned("incident"))`."""
        return preview_switch(self._engine, switch, self._window())

    # Deploys

    def deploy(self, *, prune: bool = True) -> ChangePlan:
        """Plan the start of this code: what a worker would create, change, disable and enable.

        Without `prune` the plan leaves schedules enabled that the code no longer declares.
        """
        return self.declared(self._schedules, prune=prune)

    def declared(
        self,
        schedules: Mapping[str, Declared],
        *,
        jobs: Iterable[str] | None = None,
        settings: Settings | None = None,
        prune: bool = True,
    ) -> ChangePlan:
        """Plan to bring the store to these declarations, as a start of code does.

        Args:
            schedules: the declarations by name.
            jobs: the names of known jobs; by default those of this process.
            settings: with owner and release; by default those of this process.
            prune: whether schedules of the same owner that are no longer declared are disabled.

        Raises:
            OwnedByAnother: a schedule belongs to another owner, and is not adopted.
        """
        target = Rehearsal(self._engine)
        known = frozenset(self._tasks if jobs is None else jobs)
        deploy = Deploy(self._engine, schedules, known, target=target, settings=settings)
        synced, window = deploy.carry_out(), self._window()
        new = {kept.name for kept in target.kept if kept.declared}
        steps = [self._decided(kept, window, new) for kept in target.kept]
        dropped = [e.step.name for e in steps if e.step.verb == "prune" and e.step.name not in new]
        taken = [each for each in steps if prune or each.step.name not in dropped]
        changed = {each.step.name for each in steps}
        return self._made(
            taken,
            unchanged=tuple(name for name in schedules if name not in changed),
            synced=synced,
            dropped=() if prune else tuple(dropped),
        )

    def _decided(self, kept: KeptDecision, window: Window, new: set[str]) -> PlannedStep:
        rows = kept.view.rows if kept.view else ()
        preview = preview_of(kept.plan, rows, window)
        if kept.declared:
            made, release = kept.declared, kept.release
            step = Step(
                verb="create",
                name=kept.name,
                definition=made.definition,
                release=release,
                adopt=made.adopt,
            )
        else:
            assert kept.verb is not None  # noqa: S101 - a decision creates, or has a verb
            step = Step.of_decision(kept.name, kept.verb)
        return PlannedStep.of(step, preview, is_new=kept.name in new)

    # How

    def _simple(self, verb: Any, names: Iterable[str], why: str) -> ChangePlan:  # noqa: ANN401 - a StepVerb
        def step(name: str, _plan: Plan) -> Step:
            return Step(verb=verb, name=name, note=why)

        return self._plan(
            names, lambda each: getattr(each, verb)(), lambda name: partial(step, name)
        )

    def _plan(
        self,
        names: Iterable[str],
        act: Callable[[StoredSchedule], object],
        step_of: Callable[[str], Callable[[Plan], Step]],
    ) -> ChangePlan:
        steps, unchanged = list[PlannedStep](), list[str]()
        for name in dict.fromkeys(names):
            preview = self._previewed(name, act)
            if preview.plan.is_empty:
                unchanged.append(name)
            else:
                steps.append(PlannedStep.of(step_of(name)(preview.plan), preview))
        return self._made(steps, unchanged=tuple(unchanged))

    def _previewed(self, name: str, act: Callable[[StoredSchedule], object]) -> Preview:
        """Plan a verb, and return the preview of a plan that fits the rows of the schedule."""
        for _ in range(TRIES):
            kept = KeptPlan()
            act(
                StoredSchedule(
                    self._engine, name, actor=self._actor, tasks=self._tasks, carry_out=kept
                )
            )
            assert kept.plan is not None  # noqa: S101 - every verb makes a plan
            view = self._engine.read_one(self._engine.store.views([name]))
            if view is None:
                raise NotFound("schedule", name)
            if view.schedule == kept.plan.base:
                return preview_of(kept.plan, view.rows, self._window())
        raise Contended("another process changed the schedule meanwhile; try again.")

    def _window(self) -> Window:
        return Window(self._engine.present(), self._length, self._listed)

    def _made(self, steps: Iterable[PlannedStep], **found: Any) -> ChangePlan:  # noqa: ANN401 - fields
        store, now = self._engine.store.uuid, self._engine.present()
        return ChangePlan(store, now, self._actor, tuple(steps), **found)
