"""Trust: which folders may name a store that gets the user's password, or code to import.

A `pyproject.toml` comes with a folder, and a password in `$PGPASSWORD` or `~/.pgpass` belongs to
the user. The driver of PostgreSQL would send the one to the host that the other names. A command
that only reads a store would also run the code of an application that the file names. A folder is
trusted together with the URL or the application that its file names: another one needs trust once
more.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import parse_qsl, urlsplit

from sempre.addresses.spelling import fault_of, normalised, shown_url
from sempre.errors import Refused

__all__ = ["Untrusted", "check_code", "check_trust", "forget", "trust"]

VARIABLES = ("PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE")
OPTIONS = ("passfile", "service")


class Untrusted(Refused):
    """A folder that is not trusted names a store or an application."""


def check_trust(folder: Path, url: str, environment: Mapping[str, str]) -> None:
    """Refuse the store of a folder's pyproject.toml that would get a password from elsewhere.

    Raises:
        Untrusted: the store would get a password, and the folder is not trusted with that URL.
    """
    source = _source_of_password(url, environment)
    if not source or _read(environment).get(str(folder.resolve())) == _digest(url):
        return
    raise Untrusted(
        f"pyproject.toml in {folder.resolve()} names the store {shown_url(url)}, which would be "
        f"sent the password of {source}. If you trust this folder, run `sempre trust` in it once; "
        "or name the store yourself by --store or $SEMPRE_STORE."
    )


def check_code(folder: Path, app: str, environment: Mapping[str, str] | None = None) -> None:
    """Refuse to import the application that a folder's pyproject.toml names.

    For commands that operate a store. `dev` and `worker` are asked to run the code of a folder.

    Raises:
        Untrusted: the folder is not trusted with that application.
    """
    if _read(environment).get(str(folder.resolve())) == _digest(app):
        return
    raise Untrusted(
        f"pyproject.toml in {folder.resolve()} names the application {app}, whose code would be "
        "run to find its store. If you trust this folder, run `sempre trust` in it once; or name "
        "the application yourself by -A, or the store by --store."
    )


def trust(folder: Path, named: str, environment: Mapping[str, str] | None = None) -> Path:
    """Let the pyproject.toml of a folder name this store or application; return the record."""
    known = _read(environment) | {str(folder.resolve()): _digest(named)}
    return _write(known, environment)


def forget(folder: Path, environment: Mapping[str, str] | None = None) -> bool:
    """Withdraw the trust in a folder; False if the folder was not trusted."""
    known = _read(environment)
    if known.pop(str(folder.resolve()), None) is None:
        return False
    _write(known, environment)
    return True


def _source_of_password(url: str, environment: Mapping[str, str]) -> str:
    """Return from where a driver would take a password; empty if the URL has one or none is."""
    if not url.startswith("postgres") or fault_of(url):
        return ""
    parts = urlsplit(normalised(url))
    options = dict(parse_qsl(parts.query))
    if parts.password or options.get("password"):
        return ""
    named = [f"${name}" for name in VARIABLES if environment.get(name)]
    named += [f"the option {name}" for name in OPTIONS if options.get(name)]
    if (_home(environment) / ".pgpass").exists():
        named.append("~/.pgpass")
    return named[0] if named else ""


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _record(environment: Mapping[str, str] | None) -> Path:
    found = os.environ if environment is None else environment
    configured = found.get("XDG_CONFIG_HOME", "")
    folder = Path(configured) if configured.startswith("/") else _home(found) / ".config"
    return folder / "sempre" / "trusted.json"


def _read(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Return the digests of what folders are trusted with; none if the record is unreadable."""
    try:
        found = json.loads(_record(environment).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _write(known: Mapping[str, str], environment: Mapping[str, str] | None) -> Path:
    path = _record(environment)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(known, indent=1, sort_keys=True)
    # Another process finds the old record or the new one, never half of one.
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)
    return path


def _digest(named: str) -> str:
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
