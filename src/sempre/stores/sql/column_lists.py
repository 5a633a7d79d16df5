"""The lists of columns in SQL statements, derived from the tables of columns.

A statement names a list and the form in which it needs the list:

    {columns:execution of e}        e.id, e.due_at, ...
    {parameters:execution}          :id, :due_at, ...
    {changes:execution}             id = :id, due_at = :due_at, ...
    {changes:execution from r}      id = r.id, due_at = r.due_at, ...
    {changes:execution of e from r} e.id = r.id, e.due_at = r.due_at, ...
    {json_table:execution}          id varchar(255) PATH '$.id', ...
"""

import re
from collections.abc import Collection, Iterable, Sequence

from sempre.stores.columns import EXECUTIONS, SCHEDULES, Column, Form
from sempre.stores.sql.encoding import EXECUTION, SCHEDULE, TAKEN

__all__ = ["FORMS", "column_list"]


def _changing(columns: Iterable[Column], *when: str) -> Sequence[Column]:
    return [each for each in columns if each.changes in when]


def _without(columns: Iterable[Column], names: Collection[str]) -> Sequence[Column]:
    return [each for each in columns if each.name not in names]


# Only one-off work has these columns, and bulk work has none of them.
UNIQUE = ("unique_key", "unique_mode", "unique_period")
_LISTS: dict[str, Sequence[Column]] = {
    "read_execution": EXECUTION.columns,
    "taken_execution": TAKEN.columns,
    "execution": EXECUTIONS.columns,
    "scheduled_execution": _without(EXECUTIONS.columns, UNIQUE),
    "alike_execution": _without(EXECUTIONS.columns, {"id", "args", *UNIQUE}),
    "changed_execution": _changing(EXECUTIONS.columns, "always"),
    "read_schedule": SCHEDULE.columns + SCHEDULES.parts,
    "schedule": SCHEDULES.columns,
    "rewritten_schedule": _changing(SCHEDULES.columns, "declared", "always"),
    "moved_schedule": _changing(SCHEDULES.columns, "always"),
}
FORMS = ("columns", "parameters", "changes", "json_table")
_GIVEN = re.compile(r"(\w+)(?: of (\w+))?(?: from (\w+))?")
# MariaDB's types. Only texts are compared with columns, and no list has a compared text.
_TYPES: dict[Form, str] = dict.fromkeys(("number", "flag", "instant"), "bigint")
_TYPES |= {"prose": "mediumtext"}


def column_list(form: str, given: str) -> str:
    """Return a list of columns in one of the forms; KeyError for an unknown list."""
    found = _GIVEN.fullmatch(given)
    if found is None:
        raise KeyError(given)
    name, owner, source = found.groups()
    qualified = f"{owner}." if owner else ""
    return ", ".join(_written(form, each, qualified, source) for each in _LISTS[name])


def _written(form: str, column: Column, qualified: str, source: str | None) -> str:
    name = column.name
    match form:
        case "columns":
            return f"{qualified}{name}"
        case "parameters":
            return f":{name}"
        case "json_table":
            return f"{name} {_TYPES.get(column.form, 'varchar(255)')} PATH '$.{name}'"
        case _:
            return f"{qualified}{name} = {source + '.' if source else ':'}{name}"
