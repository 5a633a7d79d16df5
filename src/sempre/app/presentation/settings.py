"""The settings in force, as people read them, and where each value comes from."""

import os
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from sempre.app.times import format_duration
from sempre.config import PREFIX, Settings, project_section, read_settings
from sempre.errors import SempreError
from sempre.urls import masked

__all__ = ["SettingInForce", "settings_in_force"]


class SettingInForce(NamedTuple):
    """One setting: its value without passwords, its origin, and its default."""

    name: str
    value: str
    origin: str
    default: str


def settings_in_force(
    settings: Settings,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> list[SettingInForce]:
    """Return every setting; its origin is code, the environment, pyproject.toml or the default."""
    environment = os.environ if environment is None else environment
    here = folder or Path.cwd()
    try:
        outside, file = (
            read_settings({}, environment=environment, folder=here),
            project_section(here),
        )
    except SempreError:
        # Settings outside of the code that cannot be read; then the code gave every value.
        outside, file = Settings(), {}
    found = []
    for each in fields(Settings):
        value = getattr(settings, each.name)
        default = getattr(Settings(), each.name)
        origin = "default"
        if value != getattr(outside, each.name):
            origin = "code"
        elif PREFIX + each.name.upper() in environment:
            origin = f"environment, {PREFIX}{each.name.upper()}"
        elif each.name in file:
            origin = "pyproject.toml, [tool.sempre]"
        elif value != default:
            origin = "derived from other settings"
        found.append(SettingInForce(each.name, _text(each.name, value), origin, _text("", default)))
    return found


def _text(name: str, value: object) -> str:
    if name in ("store", "broker"):
        return masked(str(value)) if value else "the store"
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    words = {True: "yes", False: "no", None: "none", "": "the store"}
    return words[value] if isinstance(value, bool) or value in (None, "") else str(value)
