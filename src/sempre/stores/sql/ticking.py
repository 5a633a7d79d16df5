"""The tick: a session shows life, and is told what it has to know."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Reading, Tick, Wanted
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.reading import asked_for_next
from sempre.stores.sql.records import read_switch
from sempre.stores.sql.switches import check_in_time

__all__ = ["tick"]

MICROSECOND = timedelta(microseconds=1)
Row = Sequence[Any]


def tick(
    transaction: Transaction, session: str, wanted: Wanted, lease: timedelta, *, at_once: bool
) -> Reading[Tick]:
    """Renew a session that is known and tell it what it has to know.

    Only within `with_switches`. Where all is done at once, one statement reads, renews and tells
    the store's now.
    """
    asked = {"session": session, **asked_for_next(wanted)}
    if at_once:
        return _read(transaction.rows("tick", lease=lease // MICROSECOND, **asked))
    now = microseconds_of(transaction.now)
    until = now + lease // MICROSECOND
    alive = transaction.run("renew_session", id=session, until=until) > 0
    own: list[Row] = [("now", now), ("alive", now)] if alive else [("now", now)]
    return _read([*own, *transaction.rows("tick", now=now, **asked)])


def _read(rows: Sequence[Row]) -> Reading[Tick]:
    told: dict[str, list[Row]] = defaultdict(list)
    for word, *rest in rows:
        told[word].append(rest)
    now = instant_of(told["now"][0][0])
    due, passes = (told[word][0][0] if told[word] else None for word in ("due", "pass"))
    switches = (read_switch((*texts, until)) for until, *texts in told["switch"])
    found = Tick(
        alive=bool(told["alive"]),
        switches=check_in_time(sorted(switches, key=lambda each: each.name), now),
        next_due_at=None if due is None else instant_of(due),
        # A new store is due for a pass at once.
        pass_due_at=now if passes is None else instant_of(passes),
        cancelled=tuple(sorted(asked for _, asked, *_ in told["held"] if asked)),
        held=frozenset(fence for fence, *_ in told["held"]),
        has_expired=bool(told["expired"]),
        store=told["store"][0][1] if told["store"] else "",
    )
    return Reading(now, found)
