"""Change plans: steps with their previews, and the state of the store that they were made from."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sempre.app.changes.step import Step, read_step, write_step
from sempre.app.schedules.deploy import Synced
from sempre.app.times import json_instant
from sempre.app.transfer.lines import instant_text, read_text
from sempre.domain.planning import Plan
from sempre.domain.preview import Peak, Preview, ended_by, peak_of
from sempre.domain.rules import write_rules
from sempre.domain.schedule import Schedule
from sempre.errors import GridError, Refused

__all__ = ["Base", "ChangePlan", "Ended", "PlannedStep", "ended_of", "read_plan", "write_plan"]

VERSION = 1
"""The version of plan files."""


class Base(NamedTuple):
    """The state of a schedule that a step was made from.

    Attributes:
        id: of the schedule.
        revision: rises at every change by a person or deploy.
        state: a digest of definition, pause, declaration and deletion. A store that was restored
            from a backup may have the revision again, and not the state.
    """

    id: str
    revision: int
    state: str

    @classmethod
    def of(cls, schedule: Schedule) -> "Base":
        """Return the base of a schedule."""
        pause = schedule.pause
        stated = [
            _rules(schedule),
            schedule.definition.args,
            [json_instant(pause.until), pause.note, pause.actor] if pause else None,
            schedule.deleted,
            schedule.declared,
        ]
        text = json.dumps(stated, sort_keys=True, default=str)
        return cls(schedule.id, schedule.revision, hashlib.sha256(text.encode()).hexdigest()[:16])


def _rules(schedule: Schedule) -> str:
    try:
        return write_rules(schedule.definition)
    except GridError:
        # A grid class of the user's own without a name, in a memory store.
        return repr(schedule.definition)


class Ended(NamedTuple):
    """An execution that a plan ends, and the state that it gets."""

    id: str
    state: str
    slot: datetime


def ended_of(plan: Plan) -> tuple[Ended, ...]:
    """Return the executions that a plan ends and does not replace."""
    changes = ended_by(plan)
    return tuple(Ended(c.after.id, c.after.state.value, c.after.run_at) for c in changes)


@dataclass(frozen=True)
class PlannedStep:
    """A step, and what its preview promised.

    Attributes:
        base: what the step was made from; None if the plan itself creates the schedule.
        revision: of the schedule after the step.
        ended: the executions that end and are not replaced.
        holds_until: the first slot that the step changes; None if it changes none.
        preview: None in a plan that was read from a file.
    """

    step: Step
    base: Base | None
    revision: int
    ended: tuple[Ended, ...] = ()
    holds_until: datetime | None = None
    preview: Preview | None = None

    @classmethod
    def of(cls, step: Step, preview: Preview, *, is_new: bool = False) -> "PlannedStep":
        """Return a step with the promises of its preview."""
        before = preview.plan.base
        base = None if before is None or is_new else Base.of(before)
        ended = () if is_new else ended_of(preview.plan)
        holds_until = None if is_new else preview.holds_until
        return cls(step, base, preview.schedule.revision, ended, holds_until, preview)


@dataclass(frozen=True)
class ChangePlan:
    """What a change will do, before it is applied.

    Attributes:
        store: the uuid of the store.
        made_at: when the plan was made, by the store's clock.
        made_by: who made the plan.
        steps: the changes, in the order in which they are applied.
        unchanged: schedules that the change leaves as they are.
        synced: what a start of the code would report; None unless code or a file declares.
        dropped: schedules that a deploy would disable and this plan leaves alone.
    """

    store: str
    made_at: datetime
    made_by: str
    steps: tuple[PlannedStep, ...] = ()
    unchanged: tuple[str, ...] = ()
    synced: Synced | None = None
    dropped: tuple[str, ...] = ()

    @property
    def previews(self) -> list[Preview]:
        """The previews of the steps."""
        return [each.preview for each in self.steps if each.preview is not None]

    @property
    def peaks(self) -> tuple[Peak | None, Peak | None]:
        """The busiest minute of the schedules of this plan, before and after."""
        first = {each.name: each.before for each in reversed(self.previews)}
        last = {each.name: each.after for each in self.previews}
        return peak_of(first.values()), peak_of(last.values())

    @property
    def holds_until(self) -> datetime | None:
        """The first slot that the plan changes."""
        return min((each.holds_until for each in self.steps if each.holds_until), default=None)

    def with_note(self, note: str) -> "ChangePlan":
        """Return the plan with a reason for the log of actions, where a step has none."""
        steps = (
            each if each.step.note else replace(each, step=replace(each.step, note=note))
            for each in self.steps
        )
        return replace(self, steps=tuple(steps))


def write_plan(plan: ChangePlan, previews: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return the text of a plan file; the previews are for people, and are not read back."""
    shown = list(previews) or [{} for _ in plan.steps]
    steps = [
        {
            "step": write_step(each.step),
            "base": each.base._asdict() if each.base else None,
            "revision": each.revision,
            "ended": [[e.id, e.state, instant_text(e.slot)] for e in each.ended],
            "holds_until": json_instant(each.holds_until),
            "preview": dict(preview),
        }
        for each, preview in zip(plan.steps, shown, strict=True)
    ]
    header = {"sempre": "plan", "v": VERSION, "store": plan.store}
    made = {"made_at": json_instant(plan.made_at), "made_by": plan.made_by}
    return json.dumps({**header, **made, "steps": steps}, indent=2) + "\n"


def read_plan(found: Mapping[str, Any]) -> ChangePlan:
    """Return the plan of the object of a plan file.

    Raises:
        Refused: the object is not a plan, or was written by another release.
    """
    if found.get("v") != VERSION:
        raise Refused(
            f"the plan has version {found.get('v')} of the format, and this release reads version "
            f"{VERSION}; make the plan again."
        )
    try:
        steps = tuple(_read_planned(each) for each in found["steps"])
        return ChangePlan(found["store"], read_text(found["made_at"]), found["made_by"], steps)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refused(f"the plan cannot be read: {error}; make the plan again.") from error


def _read_planned(given: Mapping[str, Any]) -> PlannedStep:
    base, until = given["base"], given["holds_until"]
    return PlannedStep(
        read_step(given["step"]),
        Base(**base) if base else None,
        int(given["revision"]),
        tuple(Ended(id_, state, read_text(slot)) for id_, state, slot in given["ended"]),
        read_text(until) if until else None,
    )
