"""The tick: the heartbeat of a session, and the store's answer."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Reading, Tick, Wanted
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.reading import asked_for_next
from sempre.stores.sql.switches import TimeIsOver

__all__ = ["tick"]

MICROSECOND = timedelta(microseconds=1)
Row = Sequence[Any]


def tick(transaction: Transaction, session: str, wanted: Wanted, lease: timedelta) -> Reading[Tick]:
    """Renew the lease of a known session, and return the answer to its heartbeat.

    Call this only within `with_switches`: switches that have reached their end are turned on first.
    """
    asked = {"session": session, **asked_for_next(wanted)}
    if transaction.writes_in_reading:
        return _read(transaction.rows("tick", lease=lease // MICROSECOND, **asked))
    now = microseconds_of(transaction.now)
    until = now + lease // MICROSECOND
    alive = transaction.run("renew_session", id=session, until=until) > 0
    own: list[Row] = [("now", now, "")]
    if alive:
        own.append(("alive", now, ""))
    return _read([*own, *transaction.rows("tick", now=now, **asked)])


def _read(rows: Sequence[Row]) -> Reading[Tick]:
    facts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for word, number, text in rows:
        facts[word].append((number, text))
    if facts["switch over"]:
        raise TimeIsOver
    now = instant_of(facts["now"][0][0])
    due, passes = (facts[word][0][0] if facts[word] else None for word in ("due", "pass"))
    found = Tick(
        alive=bool(facts["alive"]),
        next_due_at=None if due is None else instant_of(due),
        # A new store is due for a pass at once.
        pass_due_at=now if passes is None else instant_of(passes),
        cancelled=tuple(sorted(asked for _, asked in facts["held"] if asked)),
        held=frozenset(fence for fence, _ in facts["held"]),
        has_expired=bool(facts["expired"]),
        store=facts["store"][0][1] if facts["store"] else "",
        drain=bool(facts["drain"]),
    )
    return Reading(now, found)
