"""A transaction of MariaDB: how statements are called, and what takes more than one of them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any

from sempre.grids.instants import instant_of
from sempre.stores.sql.dialects.mariadb.packets import SMALL_PACKET, Packets, json_of
from sempre.stores.sql.encoding import json_text

__all__ = ["MariadbTransaction"]

# What no text of the store has in it: a list may be empty, but not so in SQL.
_NOTHING = ("\0",)


class MariadbTransaction:
    """A transaction on a connection of the pool."""

    place = "the server"

    def __init__(
        self,
        connection: Any,  # noqa: ANN401 - the driver has no types
        statements: Mapping[str, str],
        *,
        packet: int = SMALL_PACKET,
    ) -> None:
        """Wrap a connection in a transaction; its server takes packets of so many bytes."""
        self._connection = connection
        self._statements = statements
        self._packets = Packets(connection.escape, packet)

    @cached_property
    def now(self) -> datetime:
        """The server's now."""
        return instant_of(self.rows("now")[0][0])

    def send(self, name: str, /) -> None:
        """Run a statement at once."""
        self.run(name)

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows."""
        if name in ("due", "due_to_take"):
            return self._due(name, parameters)
        if name in ("overdue", "overdue_to_take"):
            return self._overdue(name.removeprefix("over"), parameters)
        text = self._statements[name]
        if name == "latest_rows":
            text = self._for_each(text, "schedule_id", parameters["ids"])
        if name == "view_rows":
            text = self._with_bounds(text, parameters)
        return self._run(text, parameters)[0]

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed; documents in several goes."""
        text = self._statements[name]
        for each, value in parameters.items():
            if isinstance(value, dict):
                pairs = [(word, json_text(document)) for word, document in value.items()]
                parts = self._packets.split(pairs)
                return sum(self._run(text, {**parameters, each: part})[1] for part in parts)
        return self._run(text, parameters)[1]

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each of many rows: as many at a time as a packet has room for."""
        text, values = self._statements[name], list(rows)
        with self._connection.cursor() as cursor:
            if "%(rows)s" in text:
                for part in self._packets.split(values):
                    cursor.execute(text, {"rows": json_of(part)})
            else:
                self._packets.check(values)
                cursor.max_stmt_length = min(cursor.max_stmt_length, self._packets.room)
                cursor.executemany(text, values)

    def script(self, text: str) -> None:
        """Run the statements of a migration; each is committed at once."""
        for statement in text.split(";\n"):
            lines = [line for line in statement.splitlines() if not line.startswith("--")]
            if "".join(lines).strip():
                self._connection.query("\n".join(lines))

    def _run(self, text: str, parameters: Mapping[str, Any]) -> tuple[list[Sequence[Any]], int]:
        """Run one statement or several; return the last rows and the count of the last one."""
        found: list[Sequence[Any]] = []
        count = 0
        bound = _bound(parameters)
        with self._connection.cursor() as cursor:
            for statement in text.split(";\n"):
                count = cursor.execute(statement, bound)
                if cursor.description:
                    found = list(cursor.fetchall())
        return found, count

    def _due(self, name: str, parameters: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Go through priorities until enough is found; there is no LATERAL to do so in SQL."""
        waiting = self.rows("waiting_lanes", lanes=parameters["lanes"])
        found: list[Sequence[Any]] = []
        for priority, lanes in groupby(waiting, key=lambda row: row[1]):
            limit = parameters["limit"] - len(found)
            rows: list[Sequence[Any]] = []
            for lane, _ in lanes if limit > 0 else ():
                where = {"lane": lane, "priority": priority, "limit": limit}
                rows += self._run(self._statements[name], {**parameters, **where})[0]
            found += sorted(rows, key=lambda row: (row[1], row[0]))[:limit]
        return found

    def _overdue(self, name: str, parameters: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Look into every lane and keep the oldest."""
        rows: list[Sequence[Any]] = []
        for lane, priority in self.rows("waiting_lanes", lanes=parameters["lanes"]):
            where = {"lane": lane, "priority": priority}
            rows += self._run(self._statements[name], {**parameters, **where})[0]
        return sorted(rows, key=lambda row: (row[1], row[0]))[: parameters["limit"]]

    def _for_each(self, text: str, parameter: str, values: Iterable[str]) -> str:
        """Put a statement together for many values: there is no LATERAL to do so in SQL."""
        escaped = (self._connection.escape(value).replace("%", "%%") for value in values)
        each = (f"({text.replace(f'%({parameter})s', value)})" for value in escaped)
        return " UNION ALL ".join(each)

    def _with_bounds(self, text: str, parameters: Mapping[str, Any]) -> str:
        """Put ranges into a statement: of a bound in another table MariaDB makes none."""
        bounds = self.rows("view_bounds", **parameters)
        cursors = ((identity, "run_at", cursor) for identity, cursor, _ in bounds)
        dues = ((identity, "finished_at", due) for identity, _, due in bounds if due is not None)
        for place, ranges in (("%(beyond_cursor)s", cursors), ("%(beyond_due)s", dues)):
            wanted = [
                f"e.schedule_id = {self._connection.escape(identity)} AND e.{column} > {bound}"
                for identity, column, bound in ranges
            ]
            joined = " OR ".join(wanted).replace("%", "%%")
            text = text.replace(place, joined or "FALSE")
        return text


def _bound(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for the driver: a list as a list of SQL, and as JSON for a table."""
    bound = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, list):
            bound[name] = value or _NOTHING
            bound[f"{name}_json"] = json_of(value)
    return bound
