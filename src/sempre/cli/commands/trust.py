"""`sempre trust`: accept the store or application that pyproject.toml names."""

from pathlib import Path

import click

from sempre.addresses.trust import forget, trust
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import output_options
from sempre.cli.output import Output, inform
from sempre.config import project_section
from sempre.urls import masked

__all__ = ["trust_folder"]


@click.command("trust")
@click.option("--forget", "withdraw", is_flag=True, help="Withdraw the trust in this folder.")
@output_options
def trust_folder(output: Output, *, withdraw: bool) -> None:
    """Trust the store or application that pyproject.toml names.

    Needed once per folder before a command sends a password from $PGPASSWORD or ~/.pgpass to a
    server that pyproject.toml names, or imports the application that it names to find the store. A
    changed URL or application needs trust again.
    """
    here = Path.cwd()
    if withdraw:
        was = forget(here)
        _report(output, here, trusted=False)
        inform(f"{here} is no longer trusted." if was else f"{here} was not trusted.")
        return
    section = project_section(here)
    kind = "store" if isinstance(section.get("store"), str) else "app"
    named = section.get(kind)
    if not isinstance(named, str):
        message = "pyproject.toml in this folder has no store or app under [tool.sempre]."
        raise Failure(message, code=ExitCode.NOT_FOUND, advice="sempre list --store URL")
    record, shown = trust(here, named), masked(named) if kind == "store" else named
    _report(output, here, trusted=True, **{kind: shown})
    inform(f"{here} is trusted for the {kind} {shown} ({record}).")


def _report(output: Output, folder: Path, **answer: object) -> None:
    if output.as_json:
        output.json({"folder": str(folder), **answer})
