"""`sempre db`: set the store up, bring it to this version, or see whether it is."""

import click

from sempre.cli.failing import Code, Failure
from sempre.cli.options import answering, choosing
from sempre.cli.printing import Output, talk
from sempre.cli.store_choice import choose_store, refuse_absent, upgrade_of
from sempre.errors import Refused, StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.store import Store
from sempre.urls import masked, open_store

__all__ = ["database", "status", "upgrade"]


@click.group("db")
def database() -> None:
    """Set the store up, or look at it."""


@database.command
@choosing
@click.option("--as-copy", is_flag=True, help="It is the copy of a store: make it one of its own.")
@answering
def upgrade(output: Output, *, store: str | None, app: str | None, as_copy: bool) -> None:
    """Set the store up, or bring its schema to this version.

    Workers do it when they start; here it can be done before a deploy.
    """
    url = choose_store(store, None, app).settings.store
    opened = open_store(url)
    try:
        before = _trouble(opened)
        opened.upgrade()
        if as_copy:
            _refuse_alive(opened)
            opened.upgrade(as_copy=True)
        word = "now a store of its own" if as_copy else "upgraded" if before else "already current"
        _tell(output, url, opened, word=word)
    finally:
        opened.close()


@database.command
@choosing
@answering
def status(output: Output, *, store: str | None, app: str | None) -> None:
    """Tell whether the store can be reached and is set up; exit 1 if it is not set up."""
    choice = choose_store(store, None, app)
    url = choice.settings.store
    refuse_absent(choice)
    opened = open_store(url)
    try:
        trouble = _trouble(opened)
        if trouble is None:
            _tell(output, url, opened, word="current")
            return
    except StoreUnavailable as error:
        # Its advice would be this very command.
        raise Failure(str(error), code=Code.UNREACHABLE) from error
    finally:
        opened.close()
    if output.as_json:
        output.json({"store": masked(url), "current": False, "problem": str(trouble)})
    else:
        output.line(f"error {masked(url)}: {trouble}")
        if isinstance(trouble, StoreGone):
            talk(f"  try: {upgrade_of(url)}")
    raise click.exceptions.Exit(Code.UNHEALTHY)


def _refuse_alive(store: Store) -> None:
    """Refuse to touch a store that somebody works on: most likely it is the original."""
    reading = store.sessions()
    leases = [each.leased_until for each in reading.value]
    alive = sum(lease is not None and lease > reading.now for lease in leases)
    if alive:
        are = "1 worker is" if alive == 1 else f"{alive} workers are"
        raise Refused(f"{are} alive: stop them first, or wait for the end of their leases.")


def _trouble(store: Store) -> StoreRefused | None:
    """Return why a store cannot be used as it is; None if it can."""
    try:
        _ = store.uuid
    except StoreRefused as error:
        return error
    return None


def _tell(output: Output, url: str, store: Store, *, word: str) -> None:
    can, weaker = store.capabilities, store.weaker_promises
    if output.as_json:
        answer = {"store": masked(url), "current": True, "did": word, "uuid": store.uuid}
        output.json({**answer, "capabilities": dict(vars(can)), "weaker": list(weaker)})
        return
    output.line(f"ok {masked(url)}: {word}")
    output.line(f"  uuid         {store.uuid}")
    promises = [name.replace("_", " ") for name, value in vars(can).items() if value]
    output.line(f"  promises     {', '.join(promises) or 'none'}")
    output.lines([f"  weaker       {each}" for each in weaker])
