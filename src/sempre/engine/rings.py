"""Rings of many rows at once: tickets that the broker lost, and rows that never had a ticket."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sempre.engine.core import Engine
from sempre.engine.healing import Heals
from sempre.engine.ids import made_at
from sempre.engine.page_prefetch import pages
from sempre.ports.messages import Page, Reading, Waiting

__all__ = ["ring_all", "ring_orphans"]

RUNG_AT_ONCE = 5000
ORPHANS_AT_ONCE = 1000
MOST_BATCHES = 200


def ring_all(
    engine: Engine,
    queues: frozenset[str] | None,
    *,
    within: timedelta | None = None,
    most: int | None = None,
    note: Callable[[Sequence[Waiting]], None] | None = None,
) -> int:
    """Ring the waiting rows of these queues, or of all; return how many the broker took.

    Args:
        engine: its store has the rows, its bell rings them.
        queues: None for every queue.
        within: rows that are due in this time; by default within the horizon of the bell.
        most: no further page is read once the broker has taken so many.
        note: is called with the rows of each page of which the broker took tickets.
    """
    store, bell, rung = engine.store, engine.bell, 0
    horizon = bell.horizon if within is None else within

    def read(after: str) -> Reading[Page[Waiting]]:
        return store.waiting(queues, horizon=horizon, after=after, limit=RUNG_AT_ONCE)

    for reading in pages(read, ahead=store.capabilities.remote):
        rows = engine.read(reading).items
        taken = bell.ring_waiting(rows, reading.now)
        rung += taken
        if note is not None and taken:
            note(rows)
        if bell.breaker.is_open or (most is not None and rung >= most):
            break
    return rung


def ring_orphans(engine: Engine, *, actor: str = "") -> int:
    """Ring rows within the horizon that have no ticket; return how many the broker took.

    With an actor, rows that should have had a ticket are noted as healed.
    """
    bell, rung, known = engine.bell, 0, ""
    if not bell.carries:
        return 0
    bell.has_unrung = bell.breaker.rest > 0
    if bell.has_unrung:
        return 0
    for _ in range(MOST_BATCHES):
        reading = engine.store.unannounced(horizon=bell.horizon, limit=ORPHANS_AT_ONCE)
        rows = engine.read(reading)
        if rows and rows[0].id == known:
            # The store could not record that the rows were rung, and cannot now.
            break
        known = rows[0].id if rows else ""
        taken = bell.ring_waiting(rows, reading.now)
        rung += taken
        if actor and taken:
            forgotten = [row for row in rows if _is_forgotten(engine, row, reading.now)]
            engine.healing.add_waiting(Heals.UNANNOUNCED, forgotten, actor=actor)
        if len(rows) < ORPHANS_AT_ONCE or taken < len(rows):
            break
    return rung


def _is_forgotten(engine: Engine, row: Waiting, now: datetime) -> bool:
    """Return whether a row should have had a ticket: it has been near for two passes, or is due.

    A row that was made just now may get its ticket at this moment.
    """
    settings = engine.settings
    nearest = now + engine.bell.horizon - 2 * settings.watchdog_interval
    if row.due_at > max(now, nearest):
        return False
    try:
        return now - made_at(row.id) > settings.grace
    except ValueError:
        return True
