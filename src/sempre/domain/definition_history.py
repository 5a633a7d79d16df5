"""Definition history: what a schedule was defined as at an instant, from the log of actions.

The row of a schedule has its present definition only. Each change by an operator or a deploy has an
entry in the log of actions with the changed fields before and after: undone from the newest to the
oldest, the entries lead back to the definition of every period that the log reaches. A field is
doubtful where an entry contradicts the value that is known after it: a change in between is not in
the log, as after a restore of the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sempre.domain.action import Action, schedule_facts
from sempre.domain.arguments import Json
from sempre.domain.schedule import Schedule
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.grids.unknown_grid import ForeignGrid, read_grid

__all__ = [
    "PastDefinition",
    "Revision",
    "changes_by",
    "definition_at",
    "definition_in_force",
    "definitions_in_force",
    "revisions_of",
]

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
    """A schedule as it was in a period between two changes.

    Attributes:
        begin: the change at which the period begins; the slots after it follow this definition.
        end: the change at which the period ends, whose instant is the last of the period; None for
            the present definition.
        facts: the fields of the schedule, as the log of actions writes them.
        grid: the rule of the slots; a ForeignGrid if this process cannot build the grid.
        doubtful: the fields whose value is not certain: the log contradicts it or is purged.
    """

    begin: datetime
    end: datetime | None
    facts: Mapping[str, Json]
    grid: Grid
    doubtful: frozenset[str] = frozenset()

    @property
    def known_grid(self) -> Grid | None:
        """The rule of the slots; None if it is doubtful, or this process cannot build the grid."""
        is_known = "grid" not in self.doubtful and not isinstance(self.grid, ForeignGrid)
        return self.grid if is_known else None

    @property
    def until(self) -> datetime | None:
        """The last instant of a slot, if the schedule had one."""
        text = self.facts.get("until")
        return read_instant("until", text) if isinstance(text, str) else None


def changes_by(action: Action) -> dict[str, tuple[Json, Json]]:
    """Return the fields of a schedule that an action changed, each before and after."""
    before, after = action.before, action.after
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    names = [name for name in after if name not in ASIDE]
    return {name: (before.get(name), after[name]) for name in names}


def revisions_of(actions: Iterable[Action]) -> list[Revision]:
    """Return the changes of one schedule that its actions record, oldest first."""
    dated = ((each.at, each) for each in actions if each.at is not None)
    # Ids sort by time: they order the changes of one instant.
    return [
        Revision(at, each.verb, each.actor, each.note, changes)
        for at, each in sorted(dated, key=lambda pair: (pair[0], pair[1].id))
        if (changes := changes_by(each))
    ]


def definitions_in_force(
    schedule: Schedule, actions: Iterable[Action], *, known_since: datetime | None = None
) -> list[PastDefinition]:
    """Return the definitions of a schedule from its creation on, oldest first.

    Args:
        schedule: as it is now.
        actions: of this schedule, under all of its names, in any order; others are harmless.
        known_since: before this instant the log is purged, and definitions are doubtful.
    """
    found: list[PastDefinition] = []
    facts, end = schedule_facts(schedule), None
    for revision in reversed(revisions_of(actions)):
        if revision.at <= schedule.created_at:
            break
        wrong = {name for name, (_, after) in revision.changes.items() if facts.get(name) != after}
        grid = _grid(schedule, facts)
        found.append(PastDefinition(revision.at, end, facts, grid, frozenset(wrong)))
        facts = facts | {name: before for name, (before, _) in revision.changes.items()}
        end = revision.at
    found.append(PastDefinition(schedule.created_at, end, facts, _grid(schedule, facts)))
    return [_after_purge(each, known_since) for each in reversed(found)]


def definition_in_force(
    schedule: Schedule, actions: Iterable[Action], slot: datetime
) -> PastDefinition:
    """Return the definition that a slot followed, as far back as the actions reach."""
    return definition_at(definitions_in_force(schedule, actions), slot)


def definition_at(definitions: Sequence[PastDefinition], slot: datetime) -> PastDefinition:
    """Return which of the definitions of a schedule, oldest first, a slot followed.

    A slot at the very instant of a change follows the definition before the change, and a slot
    before the creation of the schedule the oldest one.
    """
    return next(each for each in definitions if each.end is None or slot <= each.end)


def _grid(schedule: Schedule, facts: Mapping[str, Json]) -> Grid:
    stored = facts["grid"]
    if stored == schedule_facts(schedule)["grid"]:
        # A grid without a stored form, as in a memory store, is known as an object only.
        return schedule.definition.grid
    return read_grid(stored) if isinstance(stored, dict) else ForeignGrid({"grid": stored})


def _after_purge(known: PastDefinition, since: datetime | None) -> PastDefinition:
    """Return a definition as doubtful if the log of the changes after its period is purged."""
    if since is None or known.end is None or known.end >= since:
        return known
    return replace(known, doubtful=frozenset(known.facts))
