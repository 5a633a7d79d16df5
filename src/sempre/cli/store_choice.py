"""The store of a command: the one it is told, or that of the application it is pointed at.

In this order: `--store`, `-A`, $SEMPRE_STORE, $SEMPRE_APP, `store` and then `app` under
[tool.sempre], and `sqlite:///sempre.db`. The code of an application is imported only where the
application decides; its other settings hold as well then. Code that only pyproject.toml names is
imported once the folder is trusted.
"""

import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from sempre.addresses.trust import check_code
from sempre.cli.failing import Code, Failure
from sempre.cli.finding import USUAL, command_path, configured, find_app
from sempre.config import Settings, read_settings
from sempre.urls import file_of, masked

__all__ = ["Choice", "choose_store", "refuse_absent", "upgrade_of"]

ENVIRONMENT = ("SEMPRE_STORE", "SEMPRE_STORE_FILE")


@dataclass(frozen=True)
class Choice:
    """What a command works with.

    Attributes:
        settings: among them the URLs of store and broker.
        app: the application that they are read from, as -A names it; empty if from none.
        is_named: whether anything names the store; if not, it is the default.
    """

    settings: Settings
    app: str = ""
    is_named: bool = True


def choose_store(store: str | None, broker: str | None, app: str | None) -> Choice:
    """Return the settings of the store that a command works on.

    Args:
        store: as --store names it.
        broker: as --broker names it.
        app: as -A names it.

    Raises:
        Failure: there is no such application, or its store has no URL.
        Untrusted: only pyproject.toml names the application, and its folder is not trusted.
    """
    here, given = Path.cwd(), {"store": store, "broker": broker}
    if store is None and app is not None:
        return _of_app(app, broker)
    if store is not None or any(os.environ.get(name) for name in ENVIRONMENT):
        return Choice(read_settings(given))
    if named := os.environ.get("SEMPRE_APP"):
        return _of_app(named, broker)
    if configured(here, "store") is not None:
        return Choice(read_settings(given))
    if named := configured(here, "app"):
        check_code(here, named)
        return _of_app(named, broker)
    return Choice(read_settings(given), is_named=False)


def refuse_absent(choice: Choice) -> None:
    """Raise Failure for a store that cannot be operated from here."""
    url = choice.settings.store
    path = file_of(url)
    if url.startswith("memory:"):
        message = "a memory store lives in its own process and cannot be operated from outside."
        advice = f"{command_path()} --store sqlite:///jobs.db"
        raise Failure(message, code=Code.USAGE, advice=advice)
    if path is not None and not path.exists():
        message = f"there is no store at {masked(url)}: no file {path}."
        hint, advice = _hint(choice, path)
        message = f"{message} {hint}".strip()
        raise Failure(message, code=Code.UNREACHABLE, advice=advice)


def upgrade_of(url: str) -> str:
    """Return the command that sets a store up, as it is typed.

    What is shown of a server's URL has no account and no options, so that it cannot be repeated.
    """
    place = f" --store {masked(url)}" if file_of(url) else ", with the same --store"
    return f"sempre db upgrade{place}"


def _of_app(named: str, broker: str | None) -> Choice:
    # What the user's code prints while it is imported is no part of the command's answer.
    with redirect_stdout(sys.stderr):
        app = find_app(named).app
    if not app.composition.has_url:
        message = f"the application {named} has a store without a URL; --store names one."
        advice = f"{command_path()} --store sqlite:///jobs.db"
        raise Failure(message, code=Code.USAGE, advice=advice)
    settings = app.settings if broker is None else replace(app.settings, broker=broker)
    return Choice(settings, named)


def _hint(choice: Choice, path: Path) -> tuple[str, str]:
    """Return what may have been meant by a file that is not there, and the command to try."""
    folder = path.parent
    known = [each.name for each in folder.glob(f"*{path.suffix}")] if folder.is_dir() else []
    if near := get_close_matches(path.name, known, n=1):
        found = f"sqlite:///{folder / near[0]}"
        return f"Did you mean {near[0]}?", f"{command_path()} --store {found}"
    files = [each for pattern in USUAL for each in sorted(Path.cwd().glob(pattern))]
    if not choice.is_named and files:
        return "", f"{command_path()} -A {files[0].relative_to(Path.cwd()).as_posix()}"
    if choice.app:
        return "Workers set it up when they start.", f"sempre worker {choice.app}"
    return "", upgrade_of(choice.settings.store)
