"""Completion of names in a shell, from the store that the command line names."""

from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = ["SCHEDULE_NAME"]

MOST = 50


class _ScheduleName(click.ParamType[Any]):
    """The name of a schedule; any text is accepted, and the names of the store are completed."""

    name = "text"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - as above
    ) -> str:
        """Return the name as it was typed."""
        return str(value)

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the names that begin with a text; none if the store cannot be read."""
        # A shell shows no error while a line is typed.
        with suppress(Exception):
            return [CompletionItem(name) for name in _names(ctx.params, incomplete)]
        return []


SCHEDULE_NAME = _ScheduleName()


def _names(options: dict[str, Any], incomplete: str) -> list[str]:
    # Imported here: --help needs no connection.
    from sempre.cli.store_choice import choose_store, refuse_absent  # noqa: PLC0415
    from sempre.ports.messages import ScheduleQuery  # noqa: PLC0415
    from sempre.urls import open_store  # noqa: PLC0415

    choice = choose_store(options.get("store"), None, options.get("app"))
    refuse_absent(choice)
    store = open_store(choice.settings.store)
    try:
        found = store.schedules(ScheduleQuery(text=incomplete, limit=MOST)).value.items
        return [each.name for each in found if each.name.startswith(incomplete)]
    finally:
        store.close()
