"""`sempre db upgrade` and `db status`: set up, upgrade or check the store."""

import click

from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import output_options, store_options
from sempre.cli.output import Output, inform
from sempre.cli.store_choice import choose_store, refuse_absent, upgrade_of
from sempre.errors import Refused, StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.store import Store
from sempre.urls import masked, open_store

__all__ = ["database", "status", "upgrade"]


@click.group("db")
def database() -> None:
    """Set up, upgrade or check the store."""


@database.command
@store_options
@click.option("--as-copy", is_flag=True, help="Give a copied database a new store id.")
@output_options
def upgrade(output: Output, *, store: str | None, app: str | None, as_copy: bool) -> None:
    """Set the store up, or upgrade its schema to this version.

    Workers do so when they start; this command does so before a deploy.
    """
    url = choose_store(store, None, app).settings.store
    opened = open_store(url)
    try:
        before = _trouble(opened)
        opened.upgrade()
        if as_copy:
            _refuse_alive(opened)
            opened.upgrade(as_copy=True)
        word = "new store id" if as_copy else "upgraded" if before else "already current"
        _report(output, url, opened, word=word)
    finally:
        opened.close()


@database.command
@store_options
@output_options
def status(output: Output, *, store: str | None, app: str | None) -> None:
    """Check that the store is reachable and set up.

    Exit 1 if it is not set up, 3 if it cannot be used.
    """
    choice = choose_store(store, None, app)
    url = choice.settings.store
    refuse_absent(choice)
    opened = open_store(url)
    try:
        trouble = _trouble(opened)
        if trouble is None:
            _report(output, url, opened, word="current")
            return
    except StoreUnavailable as error:
        # The usual advice would be this very command.
        raise Failure(str(error), code=ExitCode.UNREACHABLE) from error
    finally:
        opened.close()
    if output.as_json:
        output.json({"store": masked(url), "current": False, "problem": str(trouble)})
    else:
        output.line(f"error {masked(url)}: {trouble}")
        if isinstance(trouble, StoreGone):
            inform(f"  try: {upgrade_of(url)}")
    raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _refuse_alive(store: Store) -> None:
    """Refuse a store with live workers: most likely it is the original."""
    reading = store.sessions()
    alive = sum(each.is_leased_beyond(reading.now) for each in reading.value)
    if alive:
        are = "1 worker is" if alive == 1 else f"{alive} workers are"
        raise Refused(
            f"{are} alive on this store: stop them first, or wait until their leases end."
        )


def _trouble(store: Store) -> StoreRefused | None:
    """Return why a store cannot be used; None if it can."""
    try:
        _ = store.uuid
    except StoreRefused as error:
        return error
    return None


def _report(output: Output, url: str, store: Store, *, word: str) -> None:
    can, weaker = store.capabilities, store.weaker_promises
    if output.as_json:
        answer = {"store": masked(url), "current": True, "did": word, "uuid": store.uuid}
        output.json({**answer, "capabilities": dict(vars(can)), "weaker": list(weaker)})
        return
    output.line(f"ok {masked(url)}: {word}")
    promises = [name.replace("_", " ") for name, value in vars(can).items() if value]
    output.facts([("uuid", store.uuid), ("promises", ", ".join(promises) or "none")])
    output.facts(("weaker", each) for each in weaker)
