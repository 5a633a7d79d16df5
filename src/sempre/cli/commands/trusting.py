"""`sempre trust`: let the pyproject.toml of this folder name a store that gets your password."""

from pathlib import Path

import click

from sempre.addresses.trust import forget, trust
from sempre.cli.failing import Code, Failure
from sempre.cli.options import answering
from sempre.cli.printing import Output, talk
from sempre.config import project_section
from sempre.urls import masked

__all__ = ["trust_folder"]


@click.command("trust")
@click.option("--forget", "is_over", is_flag=True, help="Trust this folder no more.")
@answering
def trust_folder(output: Output, *, is_over: bool) -> None:
    """Trust the store that pyproject.toml here names.

    Needed once where a password of yours, from $PGPASSWORD or ~/.pgpass, would be sent to a server
    that pyproject.toml names. Another URL in the file needs it again.
    """
    here = Path.cwd()
    if is_over:
        was = forget(here)
        _tell(output, here, trusted=False)
        talk(f"{here} is not trusted any more." if was else f"{here} was not trusted.")
        return
    url = project_section(here).get("store")
    if not isinstance(url, str):
        message = "there is no store under [tool.sempre] in pyproject.toml here."
        raise Failure(message, code=Code.NOT_FOUND, advice="sempre list --store URL")
    record = trust(here, url)
    _tell(output, here, trusted=True, store=masked(url))
    talk(f"{here} is trusted with the store {masked(url)} ({record}).")


def _tell(output: Output, folder: Path, **answer: object) -> None:
    if output.as_json:
        output.json({"folder": str(folder), **answer})
