"""Creation of schedules: each with its first execution, a thousand in one commit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.declaration import declaration_of
from sempre.domain.definition import Definition
from sempre.domain.names import check_name
from sempre.domain.planning import PlanningTime, plan_start
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.engine.ids import new_id, new_ids
from sempre.ports.messages import Birth

__all__ = ["Creator", "Declared", "code_words"]

BATCH = 1000


@dataclass(frozen=True)
class Declared:
    """A schedule that code declares, or that is created at run time.

    Attributes:
        adopt: whether the schedule is taken over if another owner has its name.

    Raises:
        NamingError: the name is not valid.
    """

    name: str
    definition: Definition
    adopt: bool = False

    def __post_init__(self) -> None:
        """Refuse a name that some store, log or terminal could not show."""
        check_name("schedule", self.name)


class Creator:
    """Creates schedules in the store of an engine.

    Args:
        engine: of the store.
        actor: the author of the schedules.
        release: the release of the code that declares them; None at run time.
    """

    def __init__(self, engine: Engine, *, actor: str, release: int | None) -> None:
        """Create nothing yet."""
        self._engine = engine
        self._actor = actor
        self._release = release

    def create_many(self, wanted: Iterable[Declared]) -> list[bool]:
        """Create schedules with their first executions; return for each whether its name was free.

        If a schedule is refused, or the store fails, the thousands before stay.
        """
        created: list[bool] = []
        rest = iter(wanted)
        while some := list(islice(rest, BATCH)):
            created += self._create(some)
        return created

    def births(self, some: Sequence[Declared]) -> list[Birth]:
        """Return schedules with their first executions, as `create_many` would create them now."""
        reading = self._engine.store.last_pass()
        self._engine.read(reading)
        return self._births(some, PlanningTime(reading.now, self._engine.tzdata)) if some else []

    def _create(self, some: Sequence[Declared]) -> list[bool]:
        reading = self._engine.store.last_pass()
        self._engine.read(reading)
        births = self._births(some, PlanningTime(reading.now, self._engine.tzdata))
        births = self._logged(births, reading.now)
        answers = self._engine.store.create(births)
        self._log_many(births, answers, reading.now)
        rows = [
            row for birth, made in zip(births, answers, strict=True) if made for row in birth.rows
        ]
        self._engine.bell.ring(rows, reading.now)
        self._report_broken(
            birth.schedule for birth, made in zip(births, answers, strict=True) if made
        )
        return answers

    def _report_broken(self, created: Iterable[Schedule]) -> None:
        """Report schedules that are broken from the start."""
        for schedule in created:
            if schedule.broken:
                facts = {"schedule": schedule.name, "error": schedule.broken}
                self._engine.events.emit(Happened.SCHEDULE_BROKEN, **facts)

    def _births(self, some: Sequence[Declared], moment: PlanningTime) -> list[Birth]:
        now = moment.now
        # A copy of a pattern is quicker than a constructor call for each.
        first = some[0].definition
        pattern = Schedule(id="", name="", definition=first, created_at=now, cursor=now)
        pairs = zip(some, new_ids(now, len(some)), strict=True)
        schedules = (self._new(pattern, each, identity) for each, identity in pairs)
        return [self._birth(schedule, moment) for schedule in schedules]

    def _new(self, pattern: Schedule, wanted: Declared, identity: str) -> Schedule:
        definition, release = wanted.definition, self._release
        declared = "" if release is None else declaration_of(definition, release)
        return copy_with(
            pattern, id=identity, name=wanted.name, definition=definition, declared=declared
        )

    def _birth(self, schedule: Schedule, moment: PlanningTime) -> Birth:
        now, plan = moment.now, plan_start(schedule, (), moment, actor=self._actor)
        rows = [draft.born(new_id(now), now) for draft in self._engine.mark_scheduled(plan.creates)]
        return Birth(plan.schedule or schedule, tuple(rows))

    def _logged(self, births: list[Birth], now: datetime) -> list[Birth]:
        """Return a single birth with its entry in the log of actions."""
        if len(births) != 1:
            return births
        [birth] = births
        declared = birth.schedule.definition
        after: dict[str, Json] = {"job": declared.job, "when": declared.grid.explain()}
        action = self._action(f"schedule:{birth.schedule.name}", after, now)
        return [replace(birth, action=action)]

    def _log_many(self, births: Sequence[Birth], answers: Sequence[bool], now: datetime) -> None:
        """Log a bulk of creations as one action."""
        if len(births) == 1 or not any(answers):
            return
        names = [each.schedule.name for each, made in zip(births, answers, strict=True) if made]
        after: dict[str, Json] = {"count": len(names), "first": names[0], "last": names[-1]}
        self._engine.store.record([self._action("schedules", after, now)])

    def _action(self, target: str, after: Json, now: datetime) -> Action:
        verb, note = "create", ""
        if self._release is not None:
            note = f"{code_words(self._release, self._engine.settings.owner)} declares it"
        made = Action(id=new_id(now), verb=verb, target=target, actor=self._actor, note=note)
        return replace(made, after=after)


def code_words(release: int, owner: str | None) -> str:
    """Return in words which code acts: `release 7 of owner billing`, `the code`."""
    code = f"release {release}" if release else "the code"
    return f"{code} of owner {owner}" if owner else code
