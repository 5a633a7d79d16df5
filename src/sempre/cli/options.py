"""Options that commands share, and the objects that commands get instead of them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sempre.cli.output import Output

__all__ = [
    "code_options",
    "context_options",
    "count_option",
    "output_options",
    "store_options",
    "why_option",
]

Function = Callable[..., Any]


def count_option(
    *names: str, what: str, default: int, least: int = 1, most: int | None = None
) -> Callable[[Function], Function]:
    """Give a command an option that is a number from `least` to `most`."""
    kind, text = click.IntRange(least, most), f"{what}; default {default}."
    return click.option(*names, type=kind, metavar="N", default=default, help=text)


def why_option(function: Function) -> Function:
    """Give a command -m, the reason for the log of actions."""
    text = "Reason, for the log of actions."
    return click.option("-m", "--why", default="", help=text)(function)


def output_options(function: Function) -> Function:
    """Give a command --json, --utc and --wide, and call it with an Output."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @click.option("--utc", is_flag=True, help="Show all times in UTC.")
    @click.option("--wide", is_flag=True, help="Show full ids and full texts on a terminal.")
    @wraps(function)
    def command(*, as_json: bool, utc: bool, wide: bool, **options: Any) -> Any:  # noqa: ANN401 - of any command
        return function(Output(as_json=as_json, utc=utc, wide=wide), **options)

    return command


def store_options(function: Function) -> Function:
    """Give a command --store and -A, and call it with their texts."""
    store = click.option("--store", metavar="URL", help="URL of the store; default $SEMPRE_STORE.")
    app = click.option("-A", "--app", metavar="APP", help="Use the store of this application.")
    return store(app(function))


def context_options(function: Function) -> Function:
    """Give a command the options of output, store and broker, and call it with a CommandContext."""
    return _with_context(function, passes_app=False)


def code_options(function: Function) -> Function:
    """Like `context_options`; the command also gets the text of -A, to import that code."""
    return _with_context(function, passes_app=True)


def _with_context(function: Function, *, passes_app: bool) -> Function:
    @output_options
    @store_options
    @click.option("--broker", metavar="URL", help="URL of the broker; default $SEMPRE_BROKER.")
    @wraps(function)
    def command(output: Output, **options: Any) -> Any:  # noqa: ANN401 - of any command
        # Imported here: --help needs no connection.
        from sempre.cli.context import open_context  # noqa: PLC0415
        from sempre.cli.store_choice import choose_store  # noqa: PLC0415

        names = [options.pop(name) for name in ("store", "broker", "app")]
        if passes_app:
            options["app"] = names[-1]
        with open_context(choose_store(*names), output) as context:
            return function(context, **options)

    return command
