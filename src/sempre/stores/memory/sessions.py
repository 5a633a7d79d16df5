"""Sessions of the memory store: leases, and executions whose session expired."""

from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import Tick, Wanted
from sempre.stores.memory import history, work
from sempre.stores.memory.switches import active_switches
from sempre.stores.memory.tables import Tables

__all__ = ["expired", "shorten", "tick"]


def tick(tables: Tables, session: str, wanted: Wanted, until: datetime, now: datetime) -> Tick:
    """Renew a session that was not retired or purged; return what its worker has to know."""
    # This call frees rows held by switches whose time is over.
    active_switches(tables, now)
    known = tables.sessions.get(session)
    if known:
        tables.sessions[session] = copy_with(known, leased_until=until)
    running = work.running_under(tables, session)
    asked = (row.id for row in running if tables.cancelled.get(row.id) == row.fence)
    return Tick(
        alive=known is not None,
        next_due_at=work.next_due_at(tables, wanted),
        pass_due_at=history.maintenance(tables, now).due_at,
        cancelled=tuple(sorted(asked)),
        held=frozenset(row.fence for row in running),
        # The session's own lease counts as valid from here on, however short the new lease is.
        has_expired=any(row.session != session or not known for row in expired(tables, now)),
        drain=known is not None and known.draining,
    )


def expired(tables: Tables, now: datetime) -> list[Execution]:
    """Return running executions whose session is gone or expired."""
    running = (row for row in tables.unended.values() if row.state is State.RUNNING)
    return [row for row in running if not work.is_held(tables, row, now)]


def shorten(tables: Tables, until: datetime) -> int:
    """Cut leases that end after an instant; return how many did."""
    leases = [(each, each.leased_until) for each in tables.sessions.values()]
    long = [each for each, lease in leases if lease is not None and lease > until]
    for each in long:
        tables.sessions[each.id] = copy_with(each, leased_until=until)
    return len(long)
