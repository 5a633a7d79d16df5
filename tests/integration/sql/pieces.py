"""Pieces of one-off work for tests of a database, and what their worker wants."""

from datetime import UTC, datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.ports.messages import UniqueKey, Wanted, Work

__all__ = ["LEASE", "NOW", "WANTED", "piece"]

LEASE = timedelta(minutes=5)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WANTED = Wanted(frozenset({"default"}), frozenset({"bill"}), 7)


def piece(number: int, unique: UniqueKey | None = None) -> Work:
    row = Execution(
        id=f"p{number}",
        kind=Kind.ENQUEUED,
        snapshot=Snapshot(name="piece", job="bill"),
        run_at=NOW,
        due_at=NOW,
        created_at=NOW,
    )
    return Work(row, unique)
