"""Settings: from keywords, then `SEMPRE_*` of the environment, then `[tool.sempre]`, then defaults.

Owns the names, defaults and rules of settings. Contradicting settings are refused at start, and
the error names the setting to change.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from sempre.addresses.listening import read_listening_address
from sempre.addresses.spelling import shown_url
from sempre.addresses.trust import check_trust
from sempre.domain.names import check_word
from sempre.domain.policies import check_count
from sempre.domain.redaction import read_redact
from sempre.domain.results import RESULT_LIMIT
from sempre.domain.run_log import LARGEST_LOG, LEAST_LOG, LOG_SIZE, LogRule
from sempre.errors import InvalidInput, nearest
from sempre.errors.wording import written_length
from sempre.grids.intervals import read_duration
from sempre.grids.zones import zone

__all__ = ["Settings", "SettingsError", "project_section", "read_settings"]

SECOND = timedelta(seconds=1)
RETENTION_IN_MEMORY = timedelta(hours=1)
PREFIX = "SEMPRE_"
LEAST_RESULT, LARGEST_RESULT = 1024, 2 * 2**20
LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
# Variables that are no settings; the command line reads the first.
OTHER_VARIABLES = ("APP", "STORE_FILE")
# How near a variable must be to a known one to be taken for a slip: an orchestrator may set others,
# such as SEMPRE_PORT for a service of that name.
NEAR = 0.7


class SettingsError(InvalidInput):
    """A setting that cannot be read, is unknown, or contradicts another one."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process.

    Attributes:
        store: the URL of the authority.
        broker: the URL of the bell; empty for the store itself.
        lease: how long a worker without a heartbeat keeps its executions.
        beat: the interval of heartbeats; at most a third of the lease.
        sweep: the interval of scans for overdue executions; at most half of the lease.
        grace: how much later than a sweep a start may be without being late.
        watchdog_interval: how often the maintenance pass runs.
        watchdog_priority: the priority of the watchdog's message on the broker.
        horizon: how far ahead tickets are put on the broker.
        retention: how long ended executions are kept; an hour for a memory store, which has no
            room for a month and forgets everything at a restart.
        action_retention: how long the log of actions is kept, and ranges of slots that did not run.
        timeout: how long an execution may run unless its job or schedule says otherwise.
        drain: how long a stopping worker waits for its runs.
        result_limit: the largest result that is stored, in bytes of JSON, from 1,024 to 2,097,152.
        log_level: the lowest level of records that are kept with their run: DEBUG, INFO, WARNING,
            ERROR or CRITICAL.
        log_size: the most bytes that are kept of the log of a run, from 1,024 to 262,144; 0 for
            none.
        redact: whole names whose values are masked before results and errors are stored, and
            wherever arguments are shown; with `*` and `?` as wildcards.
        release: the number of the code's release; the higher release's declarations win.
        owner: the name of this code base; schedules that it no longer declares are disabled.
        adopt: whether a start takes over declared schedules that belong to another owner.
        timezone: of schedules and instants without one; None is UTC.
        metrics: the address on which workers serve metrics, such as 127.0.0.1:9464; empty for none.
        traces: whether spans of enqueues and runs are recorded; None for spans if the application
            has configured a tracer provider of OpenTelemetry.
    """

    store: str = "sqlite:///sempre.db"
    broker: str = ""
    lease: timedelta = timedelta(seconds=30)
    beat: timedelta = timedelta(seconds=10)
    sweep: timedelta = timedelta(seconds=15)
    grace: timedelta = timedelta(seconds=5)
    watchdog_interval: timedelta = timedelta(seconds=300)
    watchdog_priority: int = 100
    horizon: timedelta = timedelta(hours=24)
    retention: timedelta = timedelta(days=30)
    action_retention: timedelta = timedelta(days=400)
    timeout: timedelta = timedelta(hours=12)
    drain: timedelta = timedelta(seconds=25)
    result_limit: int = RESULT_LIMIT
    log_level: str = "INFO"
    log_size: int = LOG_SIZE
    redact: tuple[str, ...] = ()
    release: int = 0
    owner: str | None = None
    adopt: bool = False
    timezone: str | None = None
    metrics: str = ""
    traces: bool | None = None

    def __repr__(self) -> str:
        """Show what differs from the defaults, and of URLs only scheme, host and database."""
        urls = {"store": shown_url(self.store), "broker": self.broker and shown_url(self.broker)}
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        shown = (
            f"{each.name}={urls.get(each.name, given[each.name])!r}"
            for each in fields(self)
            if given[each.name] != each.default
        )
        return f"Settings({', '.join(shown)})"

    @property
    def tolerance(self) -> timedelta:
        """How late a start may be without counting as downtime: a lease and two sweeps."""
        return self.lease + 2 * self.sweep

    @property
    def log_rule(self) -> LogRule:
        """Which records of runs are captured."""
        return LogRule(LEVELS[self.log_level], self.log_size)


def read_settings(
    given: Mapping[str, object],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return the settings in force; None in `given` counts as not given.

    Raises:
        SettingsError: a value cannot be read, a name is unknown, or two settings contradict.
        Untrusted: the file names a store that would get a password of the environment.
    """
    environment = os.environ if environment is None else environment
    here = folder or Path.cwd()
    layers = (_from_file(here), _from_environment(environment), given)
    values: dict[str, Any] = {}
    for layer in layers:
        present = {name: value for name, value in layer.items() if value is not None}
        values |= {name: _read(name, value) for name, value in present.items()}
    if "store" in layers[0] and all(each.get("store") is None for each in layers[1:]):
        check_trust(here, values["store"], environment)
    if "beat" not in values and "lease" in values:
        values["beat"] = values["lease"] / 3
    if "sweep" not in values and "lease" in values:
        values["sweep"] = min(values["lease"] / 2, Settings.sweep)
    if "retention" not in values and str(values.get("store")).startswith("memory:"):
        values["retention"] = RETENTION_IN_MEMORY
    return _consistent(replace(Settings(), **values))


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    names = {PREFIX + each.name.upper(): each.name for each in fields(Settings)}
    found: dict[str, object] = {names[key]: environment[key] for key in names if key in environment}
    _refuse_misspelt(environment, {*names, *(PREFIX + each for each in OTHER_VARIABLES)})
    path = environment.get(f"{PREFIX}STORE_FILE")
    if path and "store" not in found:
        found["store"] = _content(f"{PREFIX}STORE_FILE", Path(path)).strip()
    return found


def _refuse_misspelt(environment: Mapping[str, str], known: set[str]) -> None:
    """Raise SettingsError for a misspelt SEMPRE_ variable, which would have no effect."""
    bare = {name.removeprefix(PREFIX): name for name in sorted(known)}
    for name in sorted(environment.keys() - known):
        hint = nearest(name.removeprefix(PREFIX), bare, count=1, cutoff=NEAR)
        if name.startswith(PREFIX) and hint:
            meant = hint.replace("mean ", f"mean {PREFIX}")
            raise SettingsError("environment variable", name, allowed="a setting", hint=meant)


def _content(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        # A URL in place of the path would be shown with its password.
        shown = str(path) if re.fullmatch(r"[\w./ -]+", str(path)) else "..."
        raise SettingsError(name, shown, allowed=f"a file of text ({reason})") from None


def _from_file(folder: Path) -> dict[str, object]:
    return {name: value for name, value in project_section(folder).items() if name != "app"}


def project_section(folder: Path) -> dict[str, object]:
    """Return the table `[tool.sempre]` of a folder's pyproject.toml; empty if there is none.

    Raises:
        SettingsError: the file cannot be read, or is not TOML.
    """
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        section = tomllib.loads(_content("pyproject.toml", path))
    except (ValueError, RecursionError) as error:
        raise SettingsError("pyproject.toml", str(path), allowed=f"TOML ({error})") from None
    for name in ("tool", "sempre"):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise SettingsError(name, type(section), allowed="a table [tool.sempre]")
    return section


def _read(name: str, value: object) -> object:
    reader = _READERS.get(name)
    if reader is None:
        raise SettingsError("setting", name, allowed="a known one", hint=nearest(name, _READERS))
    return reader(name, value)


def _positive(name: str, value: object) -> timedelta:
    return read_duration(name, value, least=SECOND)


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise SettingsError(name, type(value), allowed="a URL as text")


def _count(name: str, value: object) -> int:
    # Not any digit: there are some that are no numbers, and numbers that are no counts.
    is_number = isinstance(value, str) and re.fullmatch("[0-9]{1,20}", value)
    return check_count(name, int(str(value)) if is_number else value, least=0)


def _flag(name: str, value: object) -> bool:
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]
    if isinstance(value, bool):
        return value
    raise SettingsError(name, value, allowed="true or false")


def _result_limit(name: str, value: object) -> int:
    limit = _count(name, value)
    if LEAST_RESULT <= limit <= LARGEST_RESULT:
        return limit
    allowed = f"bytes, from {LEAST_RESULT:,} to {LARGEST_RESULT:,}"
    raise SettingsError(name, value, allowed=allowed)


def _log_size(name: str, value: object) -> int:
    size = _count(name, value)
    if size == 0 or LEAST_LOG <= size <= LARGEST_LOG:
        return size
    raise SettingsError(name, value, allowed=f"0, or bytes from {LEAST_LOG:,} to {LARGEST_LOG:,}")


def _log_level(name: str, value: object) -> str:
    if isinstance(value, str) and value.upper() in LEVELS:
        return value.upper()
    raise SettingsError(name, value, allowed=", ".join(LEVELS))


def _redact(_name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        # The form of the environment: SEMPRE_REDACT="iban, card_number".
        value = [each.strip() for each in value.split(",") if each.strip()]
    return read_redact(value)


def _metrics(name: str, value: object) -> str:
    text = _text(name, value)
    if text:
        read_listening_address(name, text)
    return text


_READERS: dict[str, Callable[[str, object], object]] = {
    **{each.name: _positive for each in fields(Settings) if isinstance(each.default, timedelta)},
    "drain": read_duration,
    "grace": read_duration,
    "store": _text,
    "broker": _text,
    "watchdog_priority": _count,
    "result_limit": _result_limit,
    "log_level": _log_level,
    "log_size": _log_size,
    "redact": _redact,
    "release": _count,
    "owner": check_word,
    "adopt": _flag,
    "metrics": _metrics,
    "traces": _flag,
    "timezone": lambda _, value: zone(cast("str", value)).name,
}


def _consistent(settings: Settings) -> Settings:
    if settings.beat * 3 > settings.lease:
        allowed = f"at most a third of the lease of {written_length(settings.lease)}"
        raise SettingsError("beat", settings.beat, allowed=allowed)
    if settings.sweep * 2 > settings.lease:
        allowed = f"at most half of the lease of {written_length(settings.lease)}"
        raise SettingsError("sweep", settings.sweep, allowed=allowed)
    return settings
