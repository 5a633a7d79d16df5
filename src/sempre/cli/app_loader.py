"""Loads the application: the user's code, which `worker`, `dev` and `simulate` import.

Other commands import it only where `-A`, $SEMPRE_APP or [tool.sempre] names an application and
nothing names the store.

The application is the first of: the argument of the command, $SEMPRE_APP, `app` under
[tool.sempre], `jobs.py`, `app/jobs.py`, `src/*/jobs.py`. A name is `module`, `module:attribute` or
`path/to/file.py`, with or without an attribute; an attribute may be a function without arguments
that returns the application.
"""

import os
import re
import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

from sempre.app import Sempre
from sempre.cli.errors import ExitCode, Failure, safe_word
from sempre.config import project_section
from sempre.domain.redaction import redacted_text
from sempre.errors import SempreError, nearest

__all__ = ["USUAL", "LoadedApp", "command_path", "configured", "load_app"]

USUAL = ("jobs.py", "app/jobs.py", "src/*/jobs.py")
"""Files that are tried, in this order, where nothing names the application."""
PACKAGE = Path(__file__).parent.parent
# A string literal in a line of the user's code that may hold a password.
_QUOTED = re.compile(r"""(["'])[^"'\n]*(?:@|pass|pwd|secret)[^"'\n]*\1""", re.IGNORECASE)


@dataclass(frozen=True)
class LoadedApp:
    """An application and where it was found.

    Attributes:
        name: the application as the command line accepts it.
        origin: where the name came from.
    """

    app: Sempre
    name: str
    origin: str


def load_app(named: str | None, *, folder: Path | None = None) -> LoadedApp:
    """Import the user's code and return its application.

    Raises:
        Failure: the module, attribute or application is missing, or its code raised.
    """
    here = folder or Path.cwd()
    target, origin = _chosen(named, here)
    place, _, attribute = _split(target)
    module = _load(place, here)
    app, name = _app_of(module, attribute, target)
    return LoadedApp(app, f"{place}:{name}", origin)


def _chosen(named: str | None, here: Path) -> tuple[str, str]:
    """Return the name to import, and where the name came from."""
    for text, origin in (
        (named, "the command line"),
        (os.environ.get("SEMPRE_APP"), "$SEMPRE_APP"),
        (configured(here, "app"), "[tool.sempre] app"),
    ):
        if text:
            return text, origin
    for pattern in USUAL:
        found = sorted(here.glob(pattern))
        if found:
            return found[0].relative_to(here).as_posix(), f"{pattern} exists"
    message = f"no application: nothing names one, and {here.name}/ has no {', '.join(USUAL)}."
    raise _missing(message)


def configured(here: Path, name: str) -> str | None:
    """Return a text under [tool.sempre] in the pyproject.toml of a folder; None without it.

    Raises:
        SettingsError: the file cannot be read, or is not TOML.
    """
    text = project_section(here).get(name)
    return text if isinstance(text, str) else None


def command_path() -> str:
    """Return the current command as it is typed: `sempre list`."""
    context = click.get_current_context(silent=True)
    return context.command_path if context is not None else "sempre dev"


def _split(target: str) -> tuple[str, str, str]:
    # A drive's colon, as in C:\jobs.py, is followed by no attribute name.
    place, colon, attribute = target.rpartition(":")
    if colon and attribute.replace(".", "").isidentifier():
        return place, colon, attribute
    return target, "", ""


def _load(place: str, here: Path) -> ModuleType:
    path = here / place
    is_file = place.endswith(".py")
    if is_file and not path.is_file():
        known = [each.relative_to(here).as_posix() for each in here.glob("*.py")]
        raise _missing(f'no file "{_shown(place)}". {nearest(place, known)}')
    root, name = _root_of(path) if is_file else (here, place)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return _import(name, place, here)


def _root_of(path: Path) -> tuple[Path, str]:
    """Return the folder to import a file from and its name there, packages included."""
    parts, folder = [path.stem], path.resolve().parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _import(name: str, place: str, here: Path) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # The module itself, or a package of it, is missing; not a module that it imports.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _raised(place, error) from error
        known = [path.stem for path in here.glob("*.py")]
        known += [path.parent.name for path in here.glob("*/__init__.py")]
        raise _missing(f'no module "{_shown(place)}". {nearest(place, known)}') from None
    except Failure:
        raise
    except Exception as error:
        raise _raised(place, error) from error


def _app_of(module: ModuleType, attribute: str, target: str) -> tuple[Sempre, str]:
    if attribute:
        return _made(_attribute(module, attribute), target), attribute
    apps = {name: value for name, value in vars(module).items() if isinstance(value, Sempre)}
    if not apps:
        raise _missing(f"{target} has no application: nothing in it is a Sempre(...).")
    names = list(apps)
    if len(set(map(id, apps.values()))) > 1:
        message = f"{target} has several applications: {', '.join(names)}."
        raise Failure(message, code=ExitCode.USAGE, advice=_example(f"{target}:{names[0]}"))
    return apps[names[0]], names[0]


def _attribute(module: ModuleType, dotted: str) -> object:
    value: object = module
    for name in dotted.split("."):
        if not hasattr(value, name):
            known = [each for each in dir(value) if not each.startswith("_")]
            hint = nearest(name, known)
            raise _missing(f'no attribute "{name}" in {module.__name__}. {hint}')
        value = getattr(value, name)
    return value


def _made(value: object, target: str) -> Sempre:
    """Return the application, called for if the value is a function."""
    if not isinstance(value, Sempre) and callable(value):
        try:
            value = value()
        except Exception as error:
            raise _raised(target, error) from error
    if isinstance(value, Sempre):
        return value
    message = f"{target} is a {type(value).__name__}, not a Sempre nor a function that makes one."
    raise _missing(message)


def _missing(message: str) -> Failure:
    return Failure(message.strip(), code=ExitCode.NOT_FOUND, advice=_example("jobs.py"))


def _example(target: str) -> str:
    """Return the current command with an application as its argument or -A."""
    context = click.get_current_context(silent=True)
    options = context.command.params if context is not None else ()
    takes_option = any("-A" in each.opts for each in options)
    return f"{command_path()} {'-A ' if takes_option else ''}{target}"


def _raised(place: str, error: Exception) -> Failure:
    """Return the failure for user code that raised at import, with its traceback."""
    trace = traceback.TracebackException.from_exception(error)
    # A SempreError explains itself; after a defect the frames in this package matter too.
    ours = PACKAGE if isinstance(error, SempreError) else PACKAGE / "cli"
    frames = [each for each in trace.stack if not _is_of(ours, each.filename)]
    trace.stack[:] = frames
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        where = f" ({error.filename}, line {error.lineno})"
    text = "".join(trace.format(chain=True)).rstrip()
    return Failure(
        f"importing {_shown(place)} raised {type(error).__name__}: {error}{where}",
        details=redacted_text(_QUOTED.sub('"..."', text)),
    )


def _is_of(folder: Path, file: str) -> bool:
    """Return whether a frame lies in this folder or in the import machinery."""
    return file.startswith(("<", f"{folder}{os.sep}")) or "importlib" in file


def _shown(place: str) -> str:
    """Return the name of an application for an error; `...` if it may hold a password."""
    return place if Path(place).exists() else safe_word(place)
