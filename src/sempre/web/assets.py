"""Static files of the dashboard: few, small, held in memory, and named by their content."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sempre.drawing import style_with

__all__ = ["Asset", "assets"]

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
DIGITS = 12
COLOURS = {
    "ink": "var(--text)",
    "faint": "var(--soft)",
    "ground": "var(--card)",
    "line": "var(--line)",
    "empty": "var(--sunk)",
    "first": "var(--live)",
    "second": "color-mix(in srgb, var(--live) 38%, var(--card))",
    "good": "var(--good)",
    "bad": "var(--bad)",
    "busy": "var(--live)",
    "idle": "var(--mute)",
    "warm": "var(--warn)",
}
"""The colours of drawings: those of the theme that the visitor chose."""


@dataclass(frozen=True)
class Asset:
    """A static file: its content never changes under its path, so browsers keep it for a year."""

    name: str
    content: bytes
    media_type: str
    digest: str

    @property
    def path(self) -> str:
        """The path below the dashboard's own."""
        return f"/static/{self.digest}/{self.name}"


@cache
def assets() -> Mapping[str, Asset]:
    """Return the static files by name."""
    found = {}
    for each in files("sempre.web").joinpath("static").iterdir():
        media_type = TYPES.get("." + each.name.rpartition(".")[2])
        if media_type:
            content = each.read_bytes()
            if each.name == "sempre.css":
                content += style_with(COLOURS).encode()
            digest = hashlib.sha256(content).hexdigest()[:DIGITS]
            found[each.name] = Asset(each.name, content, media_type, digest)
    return found
