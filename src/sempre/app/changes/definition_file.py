"""Definition files: schedules of known jobs in TOML or JSON, without code.

    owner = "billing"
    timezone = "Europe/Rome"

    [schedules.bill]
    job = "bill"
    cron = "0 2 * * *"
    args = {region = "eu"}
    retry = 3

A schedule has a job, `cron` or `every` (with `anchor`), perhaps `timezone`, `gap` and `fold`, and
any field of a definition. Without code, the options of the job are not known; the file states them.
"""

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sempre.app.schedules.creation import Declared
from sempre.app.schedules.declaring import Declaration, declared_schedule
from sempre.config import Settings
from sempre.domain.job_policy import JobPolicy
from sempre.domain.names import check_word
from sempre.domain.policies import check_count
from sempre.errors import InvalidInput, PolicyError, nearest
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.zones import zone

__all__ = ["DefinitionFile", "read_definitions", "read_text_file"]

HEADS = ("owner", "release", "timezone", "schedules")
PLACES = ("timezone", "gap", "fold")


@dataclass(frozen=True)
class DefinitionFile:
    """The schedules of a definition file.

    Attributes:
        schedules: the declarations by name.
        settings: with the owner, release and time zone that the file states.
    """

    schedules: Mapping[str, Declared]
    settings: Settings


def read_text_file(text: str) -> dict[str, Any]:
    """Return the object of a plan file or definition file, in JSON or TOML.

    Raises:
        InvalidInput: the text is neither.
    """
    is_json = text.lstrip().startswith("{")
    try:
        found = json.loads(text) if is_json else tomllib.loads(text)
    except ValueError as error:
        form = "JSON" if is_json else "TOML"
        hint = f"({form}: {error})"
        raise InvalidInput("file", text[:40], allowed="TOML or a JSON object", hint=hint) from None
    return dict(found)


def read_definitions(
    found: Mapping[str, Any],
    *,
    jobs: Collection[str],
    policies: Mapping[str, JobPolicy],
    settings: Settings,
) -> DefinitionFile:
    """Return the schedules of a definition file.

    Args:
        found: the object of the file.
        jobs: the names of known jobs.
        policies: the options of jobs, as far as this process knows them.
        settings: of the application; the file may state owner, release and timezone.

    Raises:
        InvalidInput: a field, value or job that is not accepted, with its place in the file.
    """
    for name in found:
        if name not in HEADS:
            allowed = f"one of {', '.join(HEADS)}"
            raise PolicyError(name, found[name], allowed=allowed, hint=nearest(name, HEADS))
    stated = _heads(found, settings)
    tables = found.get("schedules", {})
    if not isinstance(tables, Mapping) or not all(isinstance(v, Mapping) for v in tables.values()):
        raise PolicyError("schedules", tables, allowed="a table for each schedule, by name")
    declared = {}
    for name, table in tables.items():
        try:
            declared[name] = _declared(name, table, jobs, policies, stated)
        except InvalidInput as error:
            raise _placed_at(f"schedules.{name}", error) from None
    return DefinitionFile(declared, stated)


def _heads(found: Mapping[str, Any], settings: Settings) -> Settings:
    """Return settings with what the head of a file states."""
    stated: dict[str, Any] = {}
    if "owner" in found:
        stated["owner"] = check_word("owner", found["owner"])
    if "release" in found:
        stated["release"] = check_count("release", found["release"], least=0)
    if "timezone" in found:
        stated["timezone"] = zone(found["timezone"]).name
    return replace(settings, **stated)


def _declared(
    name: str,
    table: Mapping[str, Any],
    jobs: Collection[str],
    policies: Mapping[str, JobPolicy],
    settings: Settings,
) -> Declared:
    given = dict(table)
    job = given.pop("job", None)
    if not isinstance(job, str) or job not in jobs:
        allowed = "a job of the code (-A), of a live worker or of a schedule in the store"
        raise PolicyError("job", job, allowed=allowed, hint=nearest(str(job), sorted(jobs)))
    grid, args = _grid(given), given.pop("args", {})
    said = Declaration(name, job, grid, args, given)
    return declared_schedule(said, policies.get(job, JobPolicy()), settings)


def _grid(given: dict[str, Any]) -> Grid:
    """Take the rule out of the options of a schedule."""
    places = {name: given.pop(name) for name in PLACES if name in given}
    cron, every, anchor = (given.pop(name, None) for name in ("cron", "every", "anchor"))
    if (cron is None) == (every is None):
        raise PolicyError("cron", cron, allowed='either cron = "0 2 * * *" or every = "15m"')
    if cron is not None:
        if anchor is not None:
            raise PolicyError("anchor", anchor, allowed="it with every")
        return Cron(cron, **places)
    return Every(every, anchor=anchor, **places)


def _placed_at(place: str, error: InvalidInput) -> InvalidInput:
    """Return an error that names its place in the file."""
    field = f"{place}.{error.field}"
    return InvalidInput(
        field, error.value, allowed=error.allowed, hint=error.hint, whole=error.whole
    )
