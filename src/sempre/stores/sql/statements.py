"""The statements of the store: read from `.sql` files, and completed for a dialect.

A file is a list of statements, each with a name and a description:

    -- name: turn_on
    -- Turn a switch on.
    DELETE FROM {switches} WHERE name = :name

`{word}` stands for a table or for a piece of SQL: any other statement of the files. A piece may
take arguments: `{new:actor}` is the piece `new` with `actor` in the place of its `{1}`; `{0}` is
all arguments, commas included. `{columns:list}` and its like are lists of columns: see
column_lists.py. The file queries.sql serves every dialect; a dialect's own statements.sql replaces
statements that its database needs in another form. Values are passed only as parameters.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sempre.errors import PolicyError
from sempre.stores.sql.column_lists import FORMS, column_list

__all__ = ["TABLES", "Statement", "Statements", "check_identifier", "load", "parse"]

TABLES = (
    "actions",
    "attempts",
    "cancellations",
    "executions",
    "fences",
    "limit_starts",
    "limits",
    "meta",
    "passes",
    "ranges",
    "rejections",
    "reports",
    "rollups",
    "run_logs",
    "schedules",
    "sessions",
    "snapshots",
    "switches",
    "unique_keys",
)
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
_ARGUMENT = re.compile(r"\{(\d)\}")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,40}")


@dataclass(frozen=True)
class Statement:
    """A statement as written in the file, and its description."""

    name: str
    description: str
    text: str


class Statements:
    """The statements of a dialect, completed with the names of the store's tables.

    Args:
        dialect: the name of the dialect's folder.
        prefix: the beginning of the names of all tables and indexes.
        schema: the schema of the tables, if the database has schemas.

    Raises:
        PolicyError: prefix or schema is not safe inside SQL.
    """

    def __init__(self, dialect: str, *, prefix: str, schema: str | None = None) -> None:
        """Read the files of a dialect."""
        self.prefix = check_identifier("prefix", prefix)
        self._pieces = load(dialect)
        self._names = {"prefix": prefix}
        qualifier = ""
        if schema is not None:
            self._names["schema"] = check_identifier("schema", schema)
            qualifier = f"{schema}."
        self._names |= {table: f"{qualifier}{prefix}{table}" for table in TABLES}

    def table(self, name: str) -> str:
        """Return the full name of a table in SQL."""
        return self._names[name]

    def complete(self, text: str) -> str:
        """Return SQL with every place in braces filled in; KeyError for an unknown name."""

        def fill(place: re.Match[str]) -> str:
            word, given = place[1], place[2]
            if word in self._names:
                return self._names[word]
            if word in FORMS:
                return column_list(word, given)
            arguments = (given, *given.split(",")) if given else ()
            piece = _ARGUMENT.sub(lambda each: arguments[int(each[1])], self._pieces[word].text)
            return self.complete(piece)

        return _PLACE.sub(fill, text)

    def completed(self, parameter: str = r":\1") -> dict[str, str]:
        """Return every statement by name, its parameters as the driver expects them.

        A piece with arguments is not a complete statement, and is left out.
        """
        return {
            name: _PARAMETER.sub(parameter, self.complete(piece.text))
            for name, piece in self._pieces.items()
            if not _ARGUMENT.search(piece.text)
        }


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
        comments = [line for line in lines if line.startswith("--")]
        description = " ".join(line.removeprefix("--").strip() for line in comments[:1])
        kept = [line for line in lines if not line.startswith("--")]
        found[name] = Statement(name, description, "\n".join(kept).strip())
    return found


@cache
def load(dialect: str) -> Mapping[str, Statement]:
    """Return the shared statements, with the dialect's own statements in place of shared ones."""
    folder = files("sempre.stores.sql")
    every = folder.joinpath("queries.sql").read_text("utf-8")
    own = folder.joinpath("dialects", dialect, "statements.sql").read_text("utf-8")
    return parse(every) | parse(own)
