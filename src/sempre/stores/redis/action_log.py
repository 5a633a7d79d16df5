"""The log of actions in Redis."""

import json
from collections.abc import Sequence
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.unreadable import Unreadable, unreadable
from sempre.ports.messages import ActionQuery, Page, Reading
from sempre.stores.redis import arguments
from sempre.stores.redis.decoding import LeftOut, decoded
from sempre.stores.redis.encoding import instant, stamp
from sempre.stores.redis.history import RedisHistory

__all__ = ["RedisActionLog"]

AT_ONCE = 500
WIDTH = 19


class RedisActionLog(RedisHistory):
    """The operations of the port on the log of actions."""

    def record(self, actions: Sequence[Action]) -> None:
        """Add actions to the log."""
        self._run("record", arguments.actions(actions))

    def actions(self, query: ActionQuery) -> Reading[Page[Action]]:
        """Return a page of the log, newest first.

        A script reads a bounded part of the log, and the next one goes on where it ended.
        """
        found: list[Action] = []
        left_out: LeftOut = []
        last = f"({query.after}" if query.after else "+"
        while True:
            now, rows = self._run("actions", [query.target or "", last, AT_ONCE])
            read = decoded(rows, _read, _unreadable, left_out)
            found += [each for each in read if query.matches(each)]
            if len(found) > query.limit or len(rows) < AT_ONCE:
                break
            last = f"({rows[-1][0]}"
        page = tuple(found[: query.limit])
        after = page[-1].id if len(found) > query.limit else ""
        return Reading(instant(now), Page(page, after), tuple(left_out))

    def purge_actions(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest actions before an instant."""
        return int(self._run("purge_actions", [stamp(before), limit]))


def _read(row: Sequence[str]) -> Action:
    identity, text = row
    width, _, rest = text[WIDTH:].partition(" ")
    # The script counts the bytes of the target.
    encoded = rest.encode()
    target, values = encoded[: int(width)].decode(), encoded[int(width) :].decode()
    verb, actor, note, before, after = json.loads(values)
    return Action(
        id=identity,
        verb=verb,
        target=target,
        actor=actor,
        note=note,
        before=before,
        after=after,
        at=instant(text[:WIDTH]),
    )


def _unreadable(row: Sequence[str], error: Exception) -> Unreadable:
    return unreadable("actions", row[0], row[0], error)
