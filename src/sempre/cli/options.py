"""Options that commands share, and what they turn into."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sempre.cli.printing import Output

__all__ = ["answering", "choosing", "operating"]

Function = Callable[..., Any]


def answering(function: Function) -> Function:
    """Give a command --json and --utc, and hand it an Output made of them."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @click.option("--utc", is_flag=True, help="Show all times in UTC.")
    @wraps(function)
    def command(*, as_json: bool, utc: bool, **options: Any) -> Any:  # noqa: ANN401 - of any command
        return function(Output(as_json=as_json, utc=utc), **options)

    return command


def choosing(function: Function) -> Function:
    """Give a command --store and -A, and hand it the names in them."""
    store = click.option("--store", metavar="URL", help="The store; by default $SEMPRE_STORE.")
    app = click.option("-A", "--app", metavar="APP", help="Use the store of this application.")
    return store(app(function))


def operating(function: Function) -> Function:
    """Give a command --store, -A and --broker too, and hand it a Desk: a store that is set up."""

    @answering
    @choosing
    @click.option("--broker", metavar="URL", help="The broker; by default $SEMPRE_BROKER.")
    @wraps(function)
    def command(output: Output, **options: Any) -> Any:  # noqa: ANN401 - of any command
        # A command's --help connects to nothing, and needs none of this.
        from sempre.cli.desk import desk  # noqa: PLC0415
        from sempre.cli.store_choice import choose_store  # noqa: PLC0415

        names = (options.pop(name) for name in ("store", "broker", "app"))
        with desk(choose_store(*names), output) as opened:
            return function(opened, **options)

    return command
