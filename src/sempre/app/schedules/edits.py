"""Edits of a schedule: grids, arguments and policies as a user writes them."""

import inspect
from collections.abc import Mapping
from typing import Any

from sempre.app.schedules.overlap import check_overlap
from sempre.app.schedules.time_zone import placed, with_instants
from sempre.config import Settings
from sempre.domain.definition import Definition
from sempre.domain.schedule import Schedule
from sempre.errors import ArgumentsError, PolicyError
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.ports.executor import Task

__all__ = ["edited_definition"]

RULES = ("cron", "every")
PLACES = ("timezone", "gap", "fold")
GRID_OPTIONS = frozenset({*RULES, *PLACES, "anchor"})


def edited_definition(
    schedule: Schedule, options: Mapping[str, Any], settings: Settings, task: Task | None
) -> Definition:
    """Return the definition of a schedule after an edit.

    Args:
        schedule: as it is stored.
        options: the fields to change; `cron`, `every`, `anchor`, `timezone`, `gap` and `fold`
            change the grid, and what the edit leaves out of these stays.
        settings: of the application.
        task: the function of the job; None if this process does not know the job, and then
            arguments are not checked against its signature.

    Raises:
        InvalidInput: a value that is not accepted, or arguments that the job does not take.
    """
    fields = {name: value for name, value in options.items() if name not in GRID_OPTIONS}
    changes = with_instants(fields, settings)
    if GRID_OPTIONS & options.keys():
        changes["grid"] = _edited_grid(schedule.definition.grid, options)
    if "grid" in changes:
        changes["grid"] = placed(changes["grid"], settings)
    to = schedule.definition.edited(**changes)
    if "args" in options and task is not None:
        _check_signature(schedule.name, to, task)
    if "overlap" in options:
        check_overlap(schedule.name, to, task)
    return to


def _edited_grid(grid: Grid, options: Mapping[str, Any]) -> Grid:
    """Return the grid of the given rule; zone, gap and fold of the old grid stay unless given."""
    given = [name for name in RULES if options.get(name) is not None]
    if len(given) > 1:
        raise PolicyError("every", options["every"], allowed="either cron or every, not both")
    old = grid.parameters() if isinstance(grid, Cron | Every) else {}
    kept = {name: old[name] for name in PLACES if name in old}
    kept |= {name: options[name] for name in PLACES if options.get(name) is not None}
    if given == ["cron"]:
        return Cron(options["cron"], **kept)
    if given == ["every"]:
        return Every(options["every"], anchor=options.get("anchor"), **kept)
    if not old:
        allowed = "cron=... or every=... with it: the schedule has a grid of its own class"
        raise PolicyError("timezone", options.get("timezone"), allowed=allowed)
    if "anchor" in options:
        kept["anchor"] = options["anchor"]
    return type(grid)(**{**old, **kept})


def _check_signature(name: str, definition: Definition, task: Task) -> None:
    """Raise ArgumentsError for arguments that the function of a job does not take."""
    signature = inspect.signature(task.function)
    try:
        signature.bind(**definition.args)
    except TypeError as error:
        allowed, given = f"{task.name}{signature}", dict(definition.args)
        raise ArgumentsError(f"args of {name}", given, allowed=allowed, hint=f"({error})") from None
