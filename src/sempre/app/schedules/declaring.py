"""The declaration of a schedule from what a user wrote, in code or in a file."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sempre.app.schedules.creation import Declared
from sempre.app.schedules.time_zone import placed, with_instants
from sempre.config import Settings
from sempre.domain.arguments import Json
from sempre.domain.definition import define
from sempre.domain.job_policy import JobPolicy
from sempre.domain.values import copy_with
from sempre.errors import PolicyError
from sempre.grids.grid import Grid

__all__ = ["Declaration", "declared_schedule"]


class Declaration(NamedTuple):
    """A schedule as a user writes it: options are fields of a definition, and `adopt`."""

    name: str
    job: str
    grid: Grid
    args: Mapping[str, Json]
    options: Mapping[str, Any]


def declared_schedule(said: Declaration, job: JobPolicy, settings: Settings) -> Declared:
    """Return a schedule with the options of its job, unless it has its own; tags add up.

    A switch on a tag of the job stops its scheduled runs, whatever tags they have besides.
    """
    usual = {"tolerance": settings.tolerance, "owner": settings.owner}
    chosen = with_instants({**job.inherited, **usual, **said.options}, settings)
    adopt = _read_adopt(chosen.pop("adopt", settings.adopt))
    definition = define(job=said.job, grid=placed(said.grid, settings), args=said.args, **chosen)
    tags = tuple(sorted({*job.tags, *definition.tags}))
    return Declared(said.name, copy_with(definition, tags=tags), adopt=adopt)


def _read_adopt(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise PolicyError("adopt", value, allowed="True or False")
