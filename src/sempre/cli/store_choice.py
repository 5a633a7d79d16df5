"""The store that a command operates on: named by its URL, or by an application.

The first of: `--store`, `-A`, $SEMPRE_STORE, $SEMPRE_APP, `store` and then `app` under
[tool.sempre], and `sqlite:///sempre.db`. The code of an application is imported only where it names
the store; then its other settings apply too. Code that only pyproject.toml names is imported once
the folder is trusted.
"""

import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from sempre.addresses.trust import check_code
from sempre.cli.app_loader import USUAL, command_path, configured, load_app
from sempre.cli.errors import ExitCode, Failure
from sempre.config import Settings, read_settings
from sempre.urls import file_of, masked

__all__ = ["Choice", "choose_store", "refuse_absent", "upgrade_of"]

ENVIRONMENT = ("SEMPRE_STORE", "SEMPRE_STORE_FILE")


@dataclass(frozen=True)
class Choice:
    """The settings of a command, and where they come from.

    Attributes:
        settings: the settings, with the URLs of store and broker.
        app: the application that the settings come from, as -A names it; empty without one.
        is_named: whether the store is named; if not, it is the default.
    """

    settings: Settings
    app: str = ""
    is_named: bool = True


def choose_store(store: str | None, broker: str | None, app: str | None) -> Choice:
    """Return the settings of the store that a command works on.

    Args:
        store: the option --store.
        broker: the option --broker.
        app: the option -A.

    Raises:
        Failure: the application is missing, or its store has no URL.
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
    """Raise Failure for a store that does not exist or lives in another process."""
    url = choice.settings.store
    path = file_of(url)
    if url.startswith("memory:"):
        message = "a memory store exists only inside its process; commands cannot reach it."
        advice = f"{command_path()} --store sqlite:///jobs.db"
        raise Failure(message, code=ExitCode.USAGE, advice=advice)
    if path is not None and not path.exists():
        message = f"no store at {masked(url)}: the file {path} does not exist."
        hint, advice = _hint(choice, path)
        message = f"{message} {hint}".strip()
        raise Failure(message, code=ExitCode.UNREACHABLE, advice=advice)


def upgrade_of(url: str) -> str:
    """Return the command that sets a store up, as it is typed.

    The URL of a server is not repeated: it may hold a password.
    """
    place = f" --store {masked(url)}" if file_of(url) else ", with the same --store"
    return f"sempre db upgrade{place}"


def _of_app(named: str, broker: str | None) -> Choice:
    # Output of the user's code at import is not data of the command.
    with redirect_stdout(sys.stderr):
        app = load_app(named).app
    if not app.composition.has_url:
        message = f"the store of the application {named} has no URL; name the store with --store."
        advice = f"{command_path()} --store sqlite:///jobs.db"
        raise Failure(message, code=ExitCode.USAGE, advice=advice)
    settings = app.settings if broker is None else replace(app.settings, broker=broker)
    return Choice(settings, named)


def _hint(choice: Choice, path: Path) -> tuple[str, str]:
    """Return a hint for a missing file, and the command to run next."""
    folder = path.parent
    known = [each.name for each in folder.glob(f"*{path.suffix}")] if folder.is_dir() else []
    if near := get_close_matches(path.name, known, n=1):
        found = f"sqlite:///{folder / near[0]}"
        return f"Did you mean {near[0]}?", f"{command_path()} --store {found}"
    files = [each for pattern in USUAL for each in sorted(Path.cwd().glob(pattern))]
    if not choice.is_named and files:
        return "", f"{command_path()} -A {files[0].relative_to(Path.cwd()).as_posix()}"
    if choice.app:
        return "Workers create the file when they start.", f"sempre worker {choice.app}"
    return "", upgrade_of(choice.settings.store)
