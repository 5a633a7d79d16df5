"""Following executions: new and changed ones are printed as they happen."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event

from sempre.app.presentation.executions import EXECUTION, happened_at, has_ended
from sempre.cli.context import CommandContext
from sempre.cli.tables import print_table
from sempre.domain.execution import Execution
from sempre.ports.messages import ExecutionQuery

__all__ = ["follow"]

REST = 1.0
MOST = 1000
"""Executions that one poll reads: the newest slots, and the known ones that have not ended."""
ACTIVE, ENDED = "active", "ended"
Mark = tuple[str, int, int, str]


@dataclass
class _Changes:
    """Executions of a query whose state differs from the one seen before."""

    context: CommandContext
    query: ExecutionQuery
    seen: dict[str, Mark] = field(default_factory=dict)

    def next(self) -> list[Execution]:
        """Return new and changed executions, what happened first comes first."""
        rows = {row.id: row for row in (*self._active(), *self._newest())}
        changed = [row for row in rows.values() if self.seen.get(row.id) != _mark(row)]
        self.seen = {row.id: _mark(row) for row in rows.values()}
        return sorted(changed, key=lambda row: (happened_at(row), row.id))

    def _newest(self) -> Iterator[Execution]:
        self.context.read(self.context.store.last_pass())
        now = self.query.until and self.context.now
        query = replace(self.query, until=now, limit=MOST)
        return islice(self.context.executions(query), MOST)

    def _active(self) -> Iterator[Execution]:
        """Yield the known executions that had not ended: their slot may be an old one."""
        ids = [each for each, mark in self.seen.items() if mark[0] == ACTIVE][:MOST]
        if ids:
            found = self.context.read(self.context.store.candidates(ids))
            yield from (each.execution for each in found)


def follow(
    context: CommandContext, query: ExecutionQuery, limit: int, *, without: Collection[str]
) -> None:
    """Print the latest executions, then each new or changed one, until Ctrl-C.

    Each is a line of the table, or one object per line with --json.
    """
    changes, never = _Changes(context, query), Event()
    rows, is_first = changes.next()[-limit:], True
    while True:
        if context.output.as_json:
            for row in rows:
                context.output.json({"execution": EXECUTION.json(row, context.redact)})
        elif rows or is_first:
            print_table(context, EXECUTION, rows, without=without, is_continued=not is_first)
        if is_first:
            context.report_zone()
        # Waiting for an event, which is never set, ends at Ctrl-C.
        never.wait(REST)
        rows, is_first = changes.next(), False


def _mark(row: Execution) -> Mark:
    return (
        ENDED if has_ended(row) else ACTIVE,
        row.attempt,
        row.failures,
        f"{row.state} {row.held_by}",
    )
