"""Answers of handlers, as data: a page, a redirect, JSON, a file, or a failure to explain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer", "Explained", "FileAnswer", "JsonAnswer", "PageAnswer", "Redirect"]


@dataclass(frozen=True)
class PageAnswer:
    """A page: the template and the values that it shows.

    Attributes:
        template: the file in `templates/`.
        title: of the browser's window.
        values: what the template shows.
        topics: what the live part of the page depends on, of `live.TOPICS`.
    """

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    topics: Sequence[str] = ()
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """A link to follow with GET; `notice` is shown there once, and cookies are remembered."""

    to: str
    notice: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JsonAnswer:
    """A JSON object."""

    content: Mapping[str, object]
    status: int = 200


@dataclass(frozen=True)
class FileAnswer:
    """A file to download, sent part by part while it is made."""

    name: str
    media_type: str
    parts: Iterator[str]


@dataclass(frozen=True)
class Explained:
    """A failure that a person can read: what happened, why, and what to do.

    Attributes:
        remedy: what to do next, as a sentence.
        code: a text to type or to copy, such as a command.
        retry_after: the seconds after which the page tries again by itself; 0 for never.
        field: the input that was not accepted.
        allowed: what the input accepts.
    """

    status: int
    title: str
    message: str
    remedy: str = ""
    code: str = ""
    retry_after: int = 0
    field: str = ""
    allowed: str = ""


Answer = PageAnswer | Redirect | JsonAnswer | FileAnswer | Explained
