"""How a schedule differs from its code, and how it came to be as it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sempre.app.changes.differences import differences
from sempre.app.presentation.changes import ChangedField, changed_parts, masked_value
from sempre.app.schedules.creation import Declared
from sempre.domain.arguments import Json
from sempre.domain.declaration import declared_definition
from sempre.domain.definition_history import revisions_of
from sempre.domain.redaction import redacted_text
from sempre.domain.schedule import Schedule
from sempre.ports.messages import ActionQuery
from sempre.web.visit import Visit

__all__ = ["AgainstCode", "DifferentField", "ShownRevision", "read_against_code", "read_revisions"]

ACTIONS = 100
REVISIONS = 20
WHOSE = {
    "code": "the code has changed; a deploy applies it",
    "operator": "an operator's edit; a deploy keeps it",
    "both": "an operator's edit; the code has changed too, and a deploy overwrites the edit",
}


@dataclass(frozen=True)
class DifferentField:
    """A field as the code declares it and as the store has it, and whose difference it is."""

    name: str
    declared: str
    stored: str
    whose: str


@dataclass(frozen=True)
class AgainstCode:
    """The stored definition against the declared one.

    Attributes:
        source: which declaration it is, in words.
        fields: fields that differ; empty if both are equal.
    """

    source: str
    fields: tuple[DifferentField, ...]


@dataclass(frozen=True)
class ShownRevision:
    """One change of a schedule: when, by whom, why, and the fields before and after."""

    at: datetime
    verb: str
    actor: str
    note: str
    fields: tuple[ChangedField, ...]


def read_against_code(visit: Visit, schedule: Schedule) -> AgainstCode | None:
    """Compare a schedule with the code of this process, or with what code last declared.

    None if no code declares the schedule.
    """
    here = visit.operator.declarations.schedules.get(schedule.name)
    last = declared_definition(schedule.declared)
    declared = here or (Declared(schedule.name, last) if last else None)
    if declared is None:
        return None
    source = "the code of this dashboard" if here else "what code last declared"
    fields: list[DifferentField] = []
    for found in differences(visit.reader.engine, {schedule.name: declared}, owner=None):
        names = (*visit.redact, *found.redact)
        for each in found.fields:
            stored, wanted = (
                masked_value(each.name, value, names) for value in (each.stored, each.wanted)
            )
            parts = changed_parts(each.name, wanted, stored)
            whose = WHOSE.get(each.by, "")
            fields += (DifferentField(one.name, one.before, one.after, whose) for one in parts)
    return AgainstCode(source, tuple(fields))


def read_revisions(visit: Visit, schedule: Schedule) -> list[ShownRevision]:
    """Return the newest changes of a schedule under its present name, newest first."""
    query = ActionQuery(target=f"schedule:{schedule.name}", limit=ACTIONS)
    actions = visit.reader.read(visit.store.actions(query)).items
    names = (*visit.redact, *schedule.definition.redact)
    return [
        ShownRevision(
            each.at,
            each.verb,
            each.actor,
            redacted_text(each.note, names),
            tuple(_parts(each.changes, names)),
        )
        for each in reversed(revisions_of(actions)[-REVISIONS:])
    ]


def _parts(
    changes: Mapping[str, tuple[Json, Json]], names: tuple[str, ...]
) -> Iterator[ChangedField]:
    for name, (before, after) in changes.items():
        yield from changed_parts(
            name, masked_value(name, before, names), masked_value(name, after, names)
        )
