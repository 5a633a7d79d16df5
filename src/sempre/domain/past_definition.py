"""Past definitions: what a schedule was at an instant, rebuilt from the log of actions.

The row of a schedule has its present definition only. Each change by an operator or a deploy has an
entry in the log of actions with the changed fields before and after: undone from the newest to the
oldest, the entries lead back to any instant that the log reaches.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sempre.domain.action import Action, schedule_facts
from sempre.domain.arguments import Json
from sempre.domain.schedule import Schedule
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.grids.unknown_grid import read_grid

__all__ = ["PastDefinition", "Revision", "definition_in_force", "revisions_of"]

# Parts of an entry that are not fields of a schedule.
ASIDE = frozenset({"executions", "created", "id", "cause", "count", "when"})


@dataclass(frozen=True)
class Revision:
    """One change of a schedule.

    Attributes:
        at: when the change was made.
        verb: such as edit, pause or deploy.
        actor: who made the change; `code` for a deploy.
        note: why, as the actor wrote.
        changes: by field, its value before and after.
    """

    at: datetime
    verb: str
    actor: str
    note: str
    changes: Mapping[str, tuple[Json, Json]]


@dataclass(frozen=True)
class PastDefinition:
    """A schedule as it was at an instant.

    Attributes:
        facts: its fields, as the log of actions writes them.
    """

    facts: Mapping[str, Json]

    @property
    def grid(self) -> Grid:
        """The grid that was in force."""
        return read_grid(cast("Mapping[str, object]", self.facts["grid"]))

    @property
    def name(self) -> str:
        """The name that the schedule had."""
        return str(self.facts["name"])

    @property
    def is_enabled(self) -> bool:
        """Whether the schedule was enabled."""
        return bool(self.facts.get("enabled"))

    @property
    def is_deleted(self) -> bool:
        """Whether the schedule was deleted."""
        return bool(self.facts.get("deleted"))

    @property
    def until(self) -> datetime | None:
        """The last instant of a slot, if the schedule had one."""
        text = self.facts.get("until")
        return read_instant("until", text) if isinstance(text, str) else None


def revisions_of(actions: Iterable[Action]) -> list[Revision]:
    """Return the changes of one schedule that its actions record, oldest first."""
    found = [
        Revision(each.at, each.verb, each.actor, each.note, changes)
        for each in actions
        if each.at is not None and (changes := _changes(each))
    ]
    return sorted(found, key=lambda revision: revision.at)


def definition_in_force(
    schedule: Schedule, actions: Iterable[Action], at: datetime
) -> PastDefinition:
    """Return a schedule as it was at an instant, as far back as the actions reach.

    Args:
        schedule: as it is now.
        actions: of this schedule, under all of its names, from that instant on; others are
            harmless.
        at: the instant. A change at the very instant counts as made.
    """
    facts = schedule_facts(schedule)
    for revision in reversed(revisions_of(actions)):
        if revision.at > at:
            facts |= {name: before for name, (before, _) in revision.changes.items()}
    return PastDefinition(facts)


def _changes(action: Action) -> dict[str, tuple[Json, Json]]:
    before, after = action.before, action.after
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    names = [name for name in after if name not in ASIDE]
    return {name: (before.get(name), after[name]) for name in names}
