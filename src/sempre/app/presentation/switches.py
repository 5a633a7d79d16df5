"""Switches as commands and pages show them, and the target that a person names."""

from sempre.app.health.reader import Reader
from sempre.app.presentation.fields import Field, Fields, Presenter, StoreReader
from sempre.app.switches import target_of
from sempre.app.times import format_age
from sempre.domain.switch import Switch

__all__ = ["SWITCH", "switch_target"]


def switch_target(reader: StoreReader, name: str) -> str:
    """Return the target of a switch; known jobs and tags come from schedules and workers.

    Raises:
        NamingError: no schedule or worker knows a job or tag of that name.
    """
    schedules = list(Reader(reader.engine).schedules())
    sessions = reader.read(reader.store.sessions())
    jobs = {each.definition.job for each in schedules}.union(*(each.jobs for each in sessions))
    tags = {tag for each in schedules for tag in each.definition.tags}
    are_off = {each.name for each in reader.read(reader.store.switches())}
    return name if name in are_off else target_of(name, jobs=jobs, tags=tags)


def _until_text(each: Switch, context: Presenter) -> str:
    until = each.until
    return f"{context.shown(until)} ({format_age(until, context.now)})" if until else ""


SWITCH = Fields[Switch](
    Field("name", lambda each: each.name, column="NAME"),
    Field("target", lambda each: each.target),
    Field("mode", lambda each: each.mode, column="MODE"),
    Field("until", lambda each: each.until, column="UNTIL", text=_until_text),
    Field("rejected", lambda each: each.rejected, column="REJECTED"),
    Field("actor", lambda each: each.actor, column="BY"),
    Field("reason", lambda each: each.reason, column="REASON", below=True),
)
