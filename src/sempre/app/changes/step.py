"""Steps: the change of one schedule as a value that a file can hold and a later process carry out.

A step holds results, not requests: the whole definition after an edit, the instant at which a pause
ends. A step that is carried out later therefore does what was previewed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import partial
from typing import Any, Literal, get_args

from sempre.app.schedules.creation import Declared, code_words
from sempre.app.schedules.deploy_target import DeployTarget, Verb, deploy_act, why_declared
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.app.transfer.lines import instant_text, read_object, read_text, write_object
from sempre.domain.declaration import plan_declare, plan_prune
from sempre.domain.definition import Definition
from sempre.domain.planning import Plan
from sempre.engine.core import CarryOut, Engine
from sempre.errors import Refused
from sempre.ports.executor import Task

__all__ = ["Step", "StepVerb", "read_step", "write_step"]

StepVerb = Literal[
    "edit", "pause", "resume", "enable", "disable", "delete", "skip", "create", "declare", "prune"
]
_INSTANTS = ("until", "run_at")


@dataclass(frozen=True, kw_only=True)
class Step:
    """The change of one schedule.

    Attributes:
        verb: what is done; `create`, `declare` and `prune` are done by a deploy.
        name: of the schedule.
        definition: the definition after an edit; or what code declares.
        decides: whether the operator decides on `enabled`; see `plan_edit`.
        until: the end of a pause; None for a pause without end.
        run_at: the slot to skip.
        note: the reason, for the pause and the log of actions.
        release: the release of the code that declares or drops the schedule.
        adopt: whether the schedule is taken over from another owner.
    """

    verb: StepVerb
    name: str
    definition: Definition | None = None
    decides: bool = False
    until: datetime | None = None
    run_at: datetime | None = None
    note: str = ""
    release: int = 0
    adopt: bool = False

    @classmethod
    def of_decision(cls, name: str, verb: Verb) -> "Step":
        """Return the step of a verb that a deploy has decided on."""
        given = verb.keywords
        if verb.func is plan_prune:
            return cls(verb="prune", name=name, release=given["release"])
        declared = {"definition": given["to"], "release": given["release"]}
        return cls(verb="declare", name=name, adopt=given["adopt"], **declared)

    @property
    def declared(self) -> Declared:
        """The schedule that the step creates."""
        return Declared(self.name, self._definition, adopt=self.adopt)

    def perform(
        self, engine: Engine, carry_out: CarryOut, *, actor: str, tasks: Mapping[str, Task]
    ) -> None:
        """Plan the step by the verb that people use, and hand the plan to `carry_out`.

        A creation is not planned here: there is no schedule to plan from.
        """
        if self.verb in ("declare", "prune"):
            act = deploy_act(self.name, partial(self._why, owner=engine.settings.owner))
            DeployTarget(engine, carry_out=carry_out).apply(self.name, self._decision, act=act)
            return
        schedule = StoredSchedule(engine, self.name, actor=actor, tasks=tasks, carry_out=carry_out)
        match self.verb:
            case "edit":
                schedule.redefine(self._definition, decides=self.decides, why=self.note)
            case "pause":
                schedule.pause(until=self.until, note=self.note)
            case "skip":
                schedule.skip(self.run_at, why=self.note)
            case _:
                getattr(schedule, self.verb)(why=self.note)

    def _why(self, plan: Plan, *, owner: str | None) -> str:
        """Return the reason for the log of actions: the operator's, or that of a deploy."""
        code = code_words(self.release, owner)
        if self.note:
            return self.note
        return f"{code} declares it no more" if self.verb == "prune" else why_declared(plan, code)

    @property
    def _decision(self) -> Verb:
        if self.verb == "prune":
            return partial(plan_prune, release=self.release)
        to = self._definition
        return partial(plan_declare, to=to, release=self.release, adopt=self.adopt)

    @property
    def _definition(self) -> Definition:
        if self.definition is None:
            raise Refused(f"the step {self.verb} of {self.name} has no definition.")
        return self.definition


def write_step(step: Step) -> dict[str, Any]:
    """Return a step as a JSON object, without fields at their default."""
    written = {each.name: getattr(step, each.name) for each in fields(Step)}
    told = {
        each.name: written[each.name] for each in fields(Step) if written[each.name] != each.default
    }
    for name in (name for name in _INSTANTS if name in told):
        told[name] = instant_text(told[name])
    if step.definition is not None:
        told["definition"] = write_object(step.definition)
    return told


def read_step(given: Mapping[str, Any]) -> Step:
    """Return the step of a JSON object.

    Raises:
        ValueError: the object is not a step that this release can read.
    """
    values = dict(given)
    if values.get("verb") not in get_args(StepVerb):
        raise ValueError(f"the verb is none of {', '.join(get_args(StepVerb))}")
    unknown = values.keys() - {each.name for each in fields(Step)}
    if unknown:
        raise ValueError(f"the field {min(unknown)} is unknown to this release")
    for name in (name for name in _INSTANTS if name in values):
        values[name] = read_text(values[name])
    if "definition" in values:
        values["definition"] = read_object(values["definition"])
    return Step(**values)
