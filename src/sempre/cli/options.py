"""Options that commands share, and what they turn into."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sempre.cli.printing import Output

__all__ = ["answering", "operating"]

Function = Callable[..., Any]


def answering(function: Function) -> Function:
    """Give a command --json and --utc, and hand it an Output made of them."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @click.option("--utc", is_flag=True, help="Show all times in UTC.")
    @wraps(function)
    def command(*, as_json: bool, utc: bool, **options: Any) -> Any:  # noqa: ANN401 - of any command
        return function(Output(as_json=as_json, utc=utc), **options)

    return command


def operating(function: Function) -> Function:
    """Give a command --store and --broker too, and hand it a Desk: a store that is set up."""

    @answering
    @click.option("--store", metavar="URL", help="The store; by default $SEMPRE_STORE.")
    @click.option("--broker", metavar="URL", help="The broker; by default $SEMPRE_BROKER.")
    @wraps(function)
    def command(output: Output, **options: Any) -> Any:  # noqa: ANN401 - of any command
        from sempre.cli.desk import desk  # noqa: PLC0415 - a command's --help connects to nothing

        with desk(options.pop("store"), options.pop("broker"), output) as opened:
            return function(opened, **options)

    return command
