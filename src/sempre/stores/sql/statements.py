"""The statements of the store, read from `.sql` files and completed for a dialect.

A file is a list of statements, each with a name and a description:

    -- name: turn_on
    -- A switch stops nothing any more.
    DELETE FROM {switches} WHERE name = :name

`{word}` stands for a table or for another statement, `{each:word}`, `{pairs:word}`,
`{documents:word}` and `{position:a,b}` for what the dialect makes of them. Values come in as
parameters only.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sempre.errors import PolicyError

__all__ = ["TABLES", "Statement", "Wording", "check_identifier", "load", "parse"]

TABLES = (
    "attempts",
    "cancellations",
    "executions",
    "fences",
    "meta",
    "passes",
    "ranges",
    "rejections",
    "reports",
    "rollups",
    "schedules",
    "sessions",
    "snapshots",
    "switches",
    "unique_keys",
)
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,40}")


@dataclass(frozen=True)
class Statement:
    """A statement as it is written, and what it is for."""

    name: str
    description: str
    text: str


@dataclass(frozen=True)
class Wording:
    """How a dialect puts what the files leave open.

    Attributes:
        prefix: what the name of every table and index begins with.
        table: turns a table's name, prefix included, into how it is addressed.
        each: turns a parameter into a table of the texts in its JSON array.
        pairs: turns a parameter into a table of the pairs in its JSON array.
        documents: turns a parameter into a table of the keys and values of its JSON object.
        position: turns two expressions into the place of the second text in the first.
    """

    prefix: str
    table: Callable[[str], str]
    each: Callable[[str], str]
    pairs: Callable[[str], str]
    documents: Callable[[str], str]
    position: Callable[[str, str], str]

    def complete(self, text: str, pieces: Mapping[str, Statement]) -> str:
        """Return a statement with every place in braces filled in; KeyError for an unknown one."""
        lists = {"each": self.each, "pairs": self.pairs, "documents": self.documents}

        def filled(place: re.Match[str]) -> str:
            word, given = place[1], place[2]
            if word in lists:
                return lists[word](given)
            if word == "position":
                whole, part = given.split(",")
                return self.position(whole, part)
            if word == "prefix":
                return self.prefix
            if word in TABLES:
                return self.table(self.prefix + word)
            return self.complete(pieces[word].text, pieces)

        return _PLACE.sub(filled, text)


def check_identifier(field: str, value: str) -> str:
    """Return a table prefix or schema that is safe inside SQL, or raise PolicyError."""
    if not _IDENTIFIER.fullmatch(value):
        allowed = "1-41 lower case letters, digits and _, not beginning with a digit"
        raise PolicyError(field, value, allowed=allowed)
    return value


def parse(text: str) -> dict[str, Statement]:
    """Return the statements of a file by name."""
    _, *parts = _NAME.split(text)
    found = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip().splitlines()
        told = [line for line in lines if line.startswith("--")]
        description = " ".join(line.removeprefix("--").strip() for line in told[:1])
        kept = [line for line in lines if not line.startswith("--")]
        found[name] = Statement(name, description, "\n".join(kept).strip())
    return found


@cache
def load(dialect: str) -> Mapping[str, Statement]:
    """Return the statements of every dialect, with what one of them says in its own way."""
    folder = files("sempre.stores.sql")
    every = folder.joinpath("queries.sql").read_text("utf-8")
    own = folder.joinpath("dialects", dialect, "statements.sql").read_text("utf-8")
    return parse(every) | parse(own)
