"""A transaction of MariaDB: how statements are called, and queries of several statements."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any

from sempre.grids.instants import instant_of
from sempre.stores.sql.dialects.mariadb.packets import SMALL_PACKET, Packets, json_of
from sempre.stores.sql.dialects.queries import Queries
from sempre.stores.sql.encoding import json_text

__all__ = ["MariadbTransaction"]

# No text of the store has this character. An empty list would be an error of syntax.
_NOTHING = ("\0",)


class MariadbTransaction(Queries):
    """A transaction on a connection of the pool."""

    place = "the server"

    def __init__(
        self,
        connection: Any,  # noqa: ANN401 - the driver has no types
        statements: Mapping[str, str],
        *,
        packet: int = SMALL_PACKET,
        is_begun: bool = True,
    ) -> None:
        """Wrap a connection, whose server accepts packets of this many bytes."""
        self.is_begun = is_begun
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
        return self._run(self._statements[name], parameters)[0]

    def due(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Return the ids of due rows; there is no LATERAL to query every lane in one statement."""
        return self._in_lanes("due", parameters, by_age=by_age)

    def due_to_take(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Lock and return due one-off rows, lane by lane."""
        return self._in_lanes("due_to_take", parameters, by_age=by_age)

    def view_rows(self, ids: Sequence[str]) -> list[Sequence[Any]]:
        """Return the executions that planning reads.

        Every schedule has a range of its own in the statement: of a bound that is read from another
        table MariaDB makes no range.
        """
        bounds = self.rows("view_bounds", ids=ids)
        cursors = [{"id": identity, "at": cursor} for identity, cursor, _ in bounds]
        dues = [{"id": identity, "at": due} for identity, _, due in bounds if due is not None]
        ranges = {
            "after_cursors": self._bound_each("after_cursor", cursors),
            "after_dues": self._bound_each("after_due", dues),
        }
        conditions = {name: " OR ".join(parts) or "FALSE" for name, parts in ranges.items()}
        text = self._statements["view_rows"] % (self._literals({"ids": ids}) | conditions)
        return self._run(text)[0]

    def latest_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the newest executions of schedules, by a SELECT for each of them in one UNION."""
        wanted = [{"schedule_id": each, "limit": limit} for each in ids]
        return self._union("latest_rows", wanted)

    def outcome_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the last outcomes of schedules, by a SELECT for each of them in one UNION."""
        wanted = [{"schedule_id": each, "limit": limit} for each in ids]
        return self._union("outcome_rows", wanted)

    def pushed_out(
        self, bounds: Sequence[tuple[str, int]], *, now: int, limit: int
    ) -> list[Sequence[Any]]:
        """Return executions of schedules, by a SELECT for each schedule in one UNION."""
        wanted = [
            {"word": word, "number": number, "now": now, "limit": limit} for word, number in bounds
        ]
        return self._union("pushed_out", wanted)

    def _union(self, name: str, wanted: Iterable[Mapping[str, Any]]) -> list[Sequence[Any]]:
        parts = self._bound_each(name, wanted)
        return self._run(" UNION ALL ".join(f"({part})" for part in parts))[0]

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed; split documents by packets."""
        text = self._statements[name]
        for each, value in parameters.items():
            if isinstance(value, dict):
                pairs = [(word, json_text(document)) for word, document in value.items()]
                parts = self._packets.split(pairs)
                return sum(self._run(text, {**parameters, each: part})[1] for part in parts)
        return self._run(text, parameters)[1]

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for many rows: as many at a time as fit into a packet."""
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
        """Run the statements of a migration, which MariaDB commits one by one."""
        for statement in text.split(";\n"):
            lines = [line for line in statement.splitlines() if not line.startswith("--")]
            if "".join(lines).strip():
                self._connection.query("\n".join(lines))

    def _run(
        self, text: str, parameters: Mapping[str, Any] | None = None
    ) -> tuple[list[Sequence[Any]], int]:
        """Run one statement or several; return the last rows and the count of the last one."""
        found: list[Sequence[Any]] = []
        count = 0
        bound = None if parameters is None else _bound(parameters)
        with self._connection.cursor() as cursor:
            for statement in text.split(";\n"):
                count = cursor.execute(statement, bound)
                if cursor.description:
                    found = list(cursor.fetchall())
        return found, count

    def _in_lanes(
        self, name: str, parameters: Mapping[str, Any], *, by_age: bool
    ) -> list[Sequence[Any]]:
        """Query lane by lane: all of them by age, else the most urgent until enough is found."""
        waiting = self.rows("waiting_lanes", lanes=parameters["lanes"])
        found: list[Sequence[Any]] = []
        for _, lanes in groupby(waiting, key=lambda row: 0 if by_age else row[1]):
            limit = parameters["limit"] - len(found)
            rows: list[Sequence[Any]] = []
            for lane, priority in lanes if limit > 0 else ():
                where = {"lane": lane, "priority": priority, "limit": limit}
                rows += self.rows(name, **{**parameters, **where})
            found += sorted(rows, key=lambda row: (row[1], row[0]))[:limit]
        return found

    def _bound_each(self, name: str, each: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return a piece of SQL once for each of many sets of parameters."""
        return [self._statements[name] % self._literals(parameters) for parameters in each]

    def _literals(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Return parameters as literals, as the driver writes them into a statement."""
        return {name: self._connection.escape(value) for name, value in parameters.items()}


def _bound(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for the driver: a list as a list of literals, and as JSON for a table."""
    bound = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, list):
            bound[name] = value or _NOTHING
            bound[f"{name}_json"] = json_of(value)
    return bound
