"""`sempre web`: the dashboard alone, and hashes of passwords for it."""

from pathlib import Path

import click

from sempre.cli.group import ListingGroup
from sempre.cli.options import output_options, store_options
from sempre.cli.output import Output, inform

__all__ = ["hash_password", "serve", "web"]

PORT = 8000


@click.group("web", cls=ListingGroup, usual="serve")
def web() -> None:
    """Serve the dashboard, or hash a password for it."""


@web.command("serve")
@click.option("--host", default="127.0.0.1", help="Address to bind; default 127.0.0.1.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=PORT,
    metavar="N",
    help="Port to bind; default 8000, or another free port if that one is taken.",
)
@click.option("--users", metavar="FILE", type=Path, help="Users: a line NAME ROLE HASH for each.")
@click.option("--allow-host", "names", multiple=True, help="Host name to answer to; repeatable.")
@click.option("--read-only", is_flag=True, help="Refuse every change.")
@click.option("--title", default="", help="Name of the deployment, such as production.")
@store_options
@click.option("--broker", metavar="URL", help="URL of the broker; default $SEMPRE_BROKER.")
def serve(
    *,
    host: str,
    port: int,
    users: Path | None,
    names: tuple[str, ...],
    read_only: bool,
    title: str,
    **store: str | None,
) -> None:
    """Serve the dashboard.

    Without --users the dashboard is served on loopback addresses only, and every visitor is admin.
    Ctrl-C ends it.
    """
    from sempre.app.application import Sempre  # noqa: PLC0415 - --help needs no connection
    from sempre.app.dashboards import ServerOptions, serve_dashboard  # noqa: PLC0415 - as above
    from sempre.cli.store_choice import choose_store, refuse_absent  # noqa: PLC0415 - as above

    choice = choose_store(store["store"], store["broker"], store["app"])
    refuse_absent(choice)
    app = Sempre.with_settings(choice.settings)
    app.composition.sets_up = False
    options = ServerOptions(
        host=host, port=port, users=users, names=names, read_only=read_only, title=title
    )
    try:
        serve_dashboard(app, options, begun=_report)
    finally:
        app.close()


@web.command("hash")
@click.option("--password", prompt=True, hide_input=True, confirmation_prompt=True, help="To hash.")
@output_options
def hash_password(output: Output, *, password: str) -> None:
    """Print the hash of a password, for --users and basic().

    The password is asked for, unless --password gives it.
    """
    from sempre.app.dashboards import hashed_password  # noqa: PLC0415 - an extra

    text = hashed_password(password)
    if output.as_json:
        output.json({"hash": text})
    else:
        output.line(text)


def _report(url: str) -> None:
    inform(f"dashboard at {url}")
