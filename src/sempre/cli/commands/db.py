"""`sempre db`: set up, upgrade, check, trim or move the store."""

from dataclasses import dataclass
from datetime import datetime

import click

from sempre.app.presentation.fleet import refuse_alive
from sempre.app.times import format_age, format_instant, json_instant
from sempre.cli.commands.prune import prune
from sempre.cli.commands.transfer import export_store, import_store
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import output_options, store_options
from sempre.cli.output import Output, inform
from sempre.cli.store_choice import choose_store, refuse_absent, upgrade_of
from sempre.errors import StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.messages import Pass
from sempre.ports.store import Store
from sempre.ports.volume import MOST_COUNTED, Volume
from sempre.urls import masked, open_store

__all__ = ["database", "status", "upgrade"]


@click.group("db")
def database() -> None:
    """Set up, upgrade, check, trim or move the store."""


database.add_command(prune)
database.add_command(export_store)
database.add_command(import_store)


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
            refuse_alive(opened)
            opened.upgrade(as_copy=True)
        word = "new store id" if as_copy else "upgraded" if before else "already current"
        _report(output, url, opened, word=word)
    finally:
        opened.close()


@database.command
@store_options
@output_options
def status(output: Output, *, store: str | None, app: str | None) -> None:
    """Check that the store is reachable and set up, and tell how much it holds.

    Exit 1 if it is not set up, 3 if it cannot be used.
    """
    choice = choose_store(store, None, app)
    url = choice.settings.store
    refuse_absent(choice)
    opened = open_store(url)
    try:
        trouble = _trouble(opened)
        if trouble is None:
            _report(output, url, opened, word="current", size=_size(opened))
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


def _trouble(store: Store) -> StoreRefused | None:
    """Return why a store cannot be used; None if it can."""
    try:
        _ = store.uuid
    except StoreRefused as error:
        return error
    return None


@dataclass(frozen=True)
class _Size:
    """How much a store holds, and its last pass, which purges."""

    volume: Volume
    last: Pass
    now: datetime

    def json(self) -> dict[str, object]:
        """Return the fields of `--json`."""
        ends = {"first_end": self.volume.first_end, "last_end": self.volume.last_end}
        return {
            **vars(self.volume),
            **{name: json_instant(end) for name, end in ends.items()},
            "last_pass_at": json_instant(self.last.finished_at),
            "purged": self.last.report.get("purged"),
        }

    def facts(self, zone: str) -> list[tuple[str, str]]:
        """Return names and texts for people."""
        held, last = self.volume, ""
        if self.last.finished_at:
            purged = self.last.report.get("purged")
            last = f"{format_age(self.last.finished_at, self.now)}, purged {purged}"
        ends = [
            format_instant(end, zone, now=self.now)
            for end in (held.first_end, held.last_end)
            if end
        ]
        return [
            ("schema", str(held.version)),
            ("schedules", _counted(held.schedules)),
            ("executions", _counted(held.executions)),
            ("ranges", _counted(held.ranges)),
            ("ended", " to ".join(ends)),
            ("last pass", last),
        ]


def _size(store: Store) -> _Size:
    last = store.last_pass()
    return _Size(store.volume(), last.value, last.now)


def _counted(number: int) -> str:
    return f"{number:,}{' or more' if number == MOST_COUNTED else ''}"


def _report(
    output: Output, url: str, store: Store, *, word: str, size: _Size | None = None
) -> None:
    can, weaker = store.capabilities, store.weaker_promises
    if output.as_json:
        answer: dict[str, object] = {"store": masked(url), "current": True, "did": word}
        answer["uuid"] = store.uuid
        answer |= size.json() if size else {}
        output.json({**answer, "capabilities": dict(vars(can)), "weaker": list(weaker)})
        return
    output.line(f"ok {masked(url)}: {word}")
    promises = [name.replace("_", " ") for name, value in vars(can).items() if value]
    output.facts([("uuid", store.uuid), ("promises", ", ".join(promises) or "none")])
    output.facts(("weaker", each) for each in weaker)
    output.facts(size.facts("UTC") if size else [])
