"""The log of actions in an SQL database."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sempre.domain.action import Action
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import ActionQuery, Page, Reading
from sempre.stores.sql.database import Database
from sempre.stores.sql.decoding import LeftOut, decoded
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import json_text, storable_text
from sempre.stores.sql.reading import EARLIEST, LATEST

__all__ = ["SqlActionLog", "record", "write_action"]

# Sorts after every id.
PAST_ALL = "~"


def record(transaction: Transaction, actions: Iterable[Action | None]) -> None:
    """Add actions to the log; None stands for an operation without an action."""
    rows = [write_action(each, transaction.now) for each in actions if each is not None]
    if rows:
        transaction.many("insert_action", rows)


class SqlActionLog(Database):
    """The operations of the port on the log of actions."""

    def record(self, actions: Sequence[Action]) -> None:
        """Add actions to the log."""
        self._write(lambda transaction: record(transaction, actions))

    def actions(self, query: ActionQuery) -> Reading[Page[Action]]:
        """Return a page of the log, newest first."""

        def ask(transaction: Transaction, left_out: LeftOut) -> Page[Action]:
            found = transaction.rows(_statement(query), **_asked(query))
            page = found[: query.limit]
            after = str(page[-1][0]) if len(found) > query.limit and page else ""
            return Page(tuple(decoded("actions", page, _read, left_out)), after)

        return self._read_rows(ask)

    def purge_actions(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest actions before an instant."""
        at = microseconds_of(before)
        return self._write(
            lambda transaction: transaction.run("delete_actions", before=at, limit=limit)
        )


def _statement(query: ActionQuery) -> str:
    return "actions_page" if query.target is None else "actions_of_target"


def _asked(query: ActionQuery) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "after": query.after or PAST_ALL,
        "since": microseconds_of(query.since) if query.since else EARLIEST,
        "until": microseconds_of(query.until) if query.until else LATEST,
        "verb": query.verb or "",
        "actor": query.actor or "",
        "limit": query.limit + 1,
    }
    return asked if query.target is None else asked | {"target": query.target}


def write_action(action: Action, at: datetime) -> dict[str, Any]:
    """Return the columns of an action that happened at an instant."""
    return {
        "id": action.id,
        "at": microseconds_of(at),
        "actor": storable_text(action.actor),
        "verb": action.verb,
        "target": action.target,
        "note": storable_text(action.note),
        "state_before": json_text(action.before),
        "state_after": json_text(action.after),
    }


def _read(row: Sequence[Any]) -> Action:
    identity, at, actor, verb, target, note, before, after = row
    return Action(
        id=identity,
        verb=verb,
        target=target,
        actor=actor,
        note=note,
        before=json.loads(before),
        after=json.loads(after),
        at=instant_of(at),
    )
