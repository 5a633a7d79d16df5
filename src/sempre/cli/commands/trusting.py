"""`sempre trust`: let the pyproject.toml of this folder name a store or an application."""

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
    """Trust the store, or the application, that pyproject.toml here names.

    Needed once where a password of yours, from $PGPASSWORD or ~/.pgpass, would be sent to a server
    that pyproject.toml names, or where a command would run the code of an application to find its
    store. Another URL or application in the file needs it again.
    """
    here = Path.cwd()
    if is_over:
        was = forget(here)
        _tell(output, here, trusted=False)
        talk(f"{here} is not trusted any more." if was else f"{here} was not trusted.")
        return
    section = project_section(here)
    kind = "store" if isinstance(section.get("store"), str) else "app"
    named = section.get(kind)
    if not isinstance(named, str):
        message = "there is no store or app under [tool.sempre] in pyproject.toml here."
        raise Failure(message, code=Code.NOT_FOUND, advice="sempre list --store URL")
    record, shown = trust(here, named), masked(named) if kind == "store" else named
    _tell(output, here, trusted=True, **{kind: shown})
    talk(f"{here} is trusted with the {kind} {shown} ({record}).")


def _tell(output: Output, folder: Path, **answer: object) -> None:
    if output.as_json:
        output.json({"folder": str(folder), **answer})
