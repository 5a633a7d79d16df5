"""The target of a deploy: carries out what `Deploy` decides, or keeps the decisions as plans."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Creator, Declared
from sempre.domain.action import Act
from sempre.domain.declaration_marks import is_pruned
from sempre.domain.planning import Plan, PlanningTime
from sempre.domain.schedule import Schedule
from sempre.engine.core import ActOfPlan, CarryOut, Engine, born_by
from sempre.engine.events import Happened
from sempre.ports.messages import Order, View

__all__ = ["DeployTarget", "KeptDecision", "Rehearsal", "Verb", "deploy_act", "why_declared"]

Verb = partial[Plan]
"""A verb on one schedule, such as `partial(plan_declare, to=..., release=...)`."""


def deploy_act(name: str, why: Callable[[Plan], str]) -> Callable[[Plan], Act | None]:
    """Return what a deploy logs about a plan: nothing, unless the plan changes the definition."""

    def act(plan: Plan) -> Act | None:
        before, after = plan.base, plan.schedule
        is_change = before and after and not after.definition.is_same_as(before.definition)
        return Act("deploy", f"schedule:{name}", "code", why(plan)) if is_change else None

    return act


def why_declared(plan: Plan, code: str) -> str:
    """Return in words why a declaration changes a schedule; `code` names the release and owner."""
    before, after = plan.base, plan.schedule
    is_on = after is not None and after.definition.enabled
    returns = before is not None and is_pruned(before.declared) and is_on
    return f"{code} declares it again" if returns else f"{code} declares it"


class DeployTarget:
    """The store of an engine, which a deploy changes.

    Args:
        carry_out: carries out the plan of one schedule; by default as the engine does.
    """

    def __init__(self, engine: Engine, *, carry_out: CarryOut | None = None) -> None:
        """Change nothing yet."""
        self._engine = engine
        self._carry_out = carry_out or engine.carry_out

    def create(self, missing: Sequence[Declared], *, release: int) -> list[bool]:
        """Create schedules; return for each whether its name was free."""
        return Schedules(self._engine, actor="code").create_many(missing, release=release)

    def apply(self, name: str, verb: Verb, *, act: ActOfPlan = None) -> Order | None:
        """Carry out a verb on one schedule; None if it changes nothing, or is not there."""

        def plan() -> Plan | None:
            view = self.view(name)
            return None if view is None else self._planned(view, verb)

        return self._carry_out(plan, act=act)

    def schedules(self) -> Iterator[Schedule]:
        """Yield all schedules by name."""
        return iter(Schedules(self._engine))

    def tell(self, what: Happened, **facts: object) -> None:
        """Report an event of the deploy."""
        self._engine.events.emit(what, **facts)

    def view(self, name: str) -> View | None:
        """Return a schedule and its rows; None if it is not there, or cannot be read."""
        views = self._engine.read(self._engine.store.views([name]))
        return views[0] if views else None

    def _planned(self, view: View, verb: Verb) -> Plan:
        moment = PlanningTime(self._engine.time.now(), self._engine.tzdata)
        return verb(view.schedule, view.rows, moment)


@dataclass(frozen=True)
class KeptDecision:
    """One decision of a deploy that was not carried out.

    Attributes:
        declared: the schedule to create, if the decision is to create one.
        release: the release of the code that declares the new schedule.
        verb: the verb to carry out otherwise.
        plan: what the decision writes.
        view: the schedule and the rows that the plan was made from; None for a new schedule.
    """

    name: str
    plan: Plan
    declared: Declared | None = None
    release: int = 0
    verb: Verb | None = None
    view: View | None = None


class Rehearsal(DeployTarget):
    """A target that writes nothing: it keeps each decision, and later ones see its effect."""

    def __init__(self, engine: Engine) -> None:
        """Begin with the store as it is."""
        super().__init__(engine)
        self.kept: list[KeptDecision] = []
        self._views: dict[str, View] = {}

    def create(self, missing: Sequence[Declared], *, release: int) -> list[bool]:
        """Keep the creation of schedules: each name is free."""
        creator = Creator(self._engine, actor="code", release=release)
        for declared, birth in zip(missing, creator.births(missing), strict=True):
            plan = Plan(None, birth.schedule, creates=birth.rows)
            self.kept.append(KeptDecision(declared.name, plan, declared, release))
            self._views[declared.name] = View(birth.schedule, birth.rows)
        return [True] * len(missing)

    def apply(self, name: str, verb: Verb, *, act: ActOfPlan = None) -> Order | None:  # noqa: ARG002 - nothing is logged
        """Keep the plan of a verb; None if it changes nothing."""
        view = self.view(name)
        plan = None if view is None else self._planned(view, verb)
        if view is None or plan is None or plan.is_empty:
            return None
        self.kept.append(KeptDecision(name, plan, verb=verb, view=view))
        order = self._engine.order(plan)
        changed = {change.before.id: change.after for change in plan.changes}
        rows = [changed.get(row.id, row) for row in view.rows]
        rows += born_by(order, self._engine.time.now())
        self._views[name] = View(plan.schedule or view.schedule, tuple(rows))
        return order

    def schedules(self) -> Iterator[Schedule]:
        """Yield the schedules of the store as the kept decisions leave them."""
        for schedule in super().schedules():
            kept = self._views.get(schedule.name)
            yield kept.schedule if kept else schedule

    def tell(self, what: Happened, **facts: object) -> None:
        """Report nothing: nothing has happened."""

    def view(self, name: str) -> View | None:
        """Return a schedule as the kept decisions leave it."""
        return self._views.get(name) or super().view(name)
