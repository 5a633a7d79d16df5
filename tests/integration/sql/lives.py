"""Lives that are led side by side: the ways that they have to go, and bugs that they must find."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sempre.stores.memory import MemoryStore
from sempre.stores.sql.dialects import Dialect
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.side_by_side import SideBySide, VirtualClock
from tests.integration.sql.steered import Trace, open_steered

__all__ = ["BUGS", "Bug", "lead", "lead_with_bug"]

STEPS = 400
Way = Callable[[Trace], bool]
Opened = Callable[[int, VirtualClock], Dialect]


def _finds(*names: str, without: Sequence[str] = ()) -> Way:
    """Tell of a transaction whether each of some statements found rows, and others did not run."""
    return lambda trace: trace.found >= set(names) and trace.asked.isdisjoint(without)


PATHS = {
    "slots start as plans say": _finds("guarded_schedules", "next_fences"),
    "slots that merely start are written as pairs": _finds("guarded_schedules", "start_taken"),
    "one-off work is claimed step by step": _finds("due_to_take", "start_taken"),
    "one-off work is claimed by its ids": _finds("these_to_take", "start_taken"),
    "successes end at once": _finds("end_successes", without=["guarded_executions"]),
    "other ends are settled as plans say": _finds("guarded_executions", "insert_attempt"),
    "a success gets an attempt before a late result": _finds("record_successes"),
    "work that is alike is inserted at once": _finds("insert_fresh"),
    "work is inserted row by row": _finds("insert_execution"),
    "executions are kept whatever their age": _finds("ended_page", "kept_since"),
    "executions wait for their limits": _finds("limited_runs", "park"),
    "starts under a rate are recorded": _finds("recent_starts", "limit_periods"),
    "executions go on": _finds("parked_rows", "free_parked"),
}
BY_ONE_STATEMENT = {
    "slots start by one statement": _finds("start_slots", without=["guarded_schedules"]),
    "some slots start by one statement, others not": _finds("start_slots", "next_fences"),
    "one-off work is claimed by one statement": _finds("claim_one_off", without=["due_to_take"]),
    "a session ticks by one statement": _finds("tick", without=["renew_session"]),
    "work that is alike and known is left alone": _finds("insert_alike"),
}
STEP_BY_STEP = {
    "a session is renewed, then ticks": _finds("tick", "renew_session"),
    "a next row refers to the snapshot of the row before": _finds(
        "guarded_executions", "load_execution", without=["known_snapshots"]
    ),
}


class Bug(NamedTuple):
    """A statement that does something else: what a store must not answer any more."""

    statement: str
    pattern: str
    replacement: str

    def plant(self, dialect: Dialect) -> None:
        """Break the statement of a dialect."""
        assert isinstance(dialect, Sqlite | Postgresql | Mariadb)
        right = dialect.statements[self.statement]
        dialect.statements[self.statement] = re.sub(self.pattern, self.replacement, right)
        assert dialect.statements[self.statement] != right, "there is nothing to break"


_EVERYWHERE = {
    "a success ends what another claim holds": Bug(
        "end_successes", r"AND (e\.)?fence = one\.number", ""
    ),
    "a start forgets the first start": Bug(
        "start_taken", r"coalesce\((e\.)?first_started_at, ([:%\w()]+)\)", r"\2"
    ),
    "work that is alike loses its arguments": Bug("insert_fresh", r"one\.document", "'{}'"),
    "a purge deletes what a schedule keeps": Bug(
        "kept_since", r"ORDER BY y\.finished_at DESC", "ORDER BY y.finished_at"
    ),
    "a purge goes by the wrong retention": Bug("ended_page", r"c\.retention", "NULL"),
    "a limit counts no runs": Bug("limited_runs", r"count\(\*\)", "0 * count(*)"),
    "a rate counts no starts": Bug("recent_starts", r"count\(\*\)", "0 * count(*)"),
    "what goes on is due as before": Bug("free_parked", r"due_at = [:%\w()]+", "due_at = due_at"),
    "what waits goes on in any order": Bug(
        "parked_rows", r"ORDER BY e\.priority, e\.run_at, e\.id", "ORDER BY e.id DESC"
    ),
    "a late result hides the success before it": Bug(
        "record_successes", r"e\.state = 'succeeded'", "e.state = 'failed'"
    ),
}
_BY_ONE_STATEMENT = {
    "slots start though a switch is off": Bug(
        "start_slots", r"NOT EXISTS \(SELECT 1 FROM \S+\)", "true"
    ),
    "slots start for a session that lost its lease": Bug(
        "start_slots", r"AND w.leased_until > clock.now", ""
    ),
    "slots start under one fence": Bug("start_slots", r"nextval\(.*?\)", "1"),
    "a schedule moves past its next slot": Bug(
        "start_slots", r"cursor_at = one.run_at", "cursor_at = one.next_run_at"
    ),
    "a successor is as old as its slot": Bug(
        "start_slots", r"(%\(tzdata\)s), now,", r"\1, next_run_at,"
    ),
    "a start counts twice": Bug("start_slots", r"c.starts \+ 1", "c.starts + 2"),
    "one-off work starts though a switch is off": Bug(
        "claim_one_off", r"NOT EXISTS \(SELECT 1 FROM \S+\)", "true"
    ),
    "one-off work starts by fences of its own": Bug(
        "claim_one_off", r"nextval\(.*?\)", "e.fence + 1"
    ),
    "one-off work is always at its first try": Bug("claim_one_off", r"e\.attempt \+ 1", "1"),
    "one-off work is claimed early": Bug("claim_one_off", r"x.due_at <= lease.now", "true"),
    "one-off work is claimed by age": Bug(
        "claim_one_off", r"ORDER BY found.priority, found.due_at", "ORDER BY found.due_at"
    ),
    "a session is renewed for too long": Bug("tick", r"%\(lease\)s", "2 * %(lease)s"),
}
BUGS = {
    "sqlite": _EVERYWHERE,
    "mariadb": _EVERYWHERE,
    "postgresql": _EVERYWHERE | _BY_ONE_STATEMENT,
}


def lead(opened: Opened, seeds: Iterable[int]) -> None:
    """Lead some lives, and check that they went every way that their dialect has."""
    traces: list[Trace] = []
    paths = PATHS
    for seed in seeds:
        clock = VirtualClock()
        dialect = opened(seed, clock)
        store, traced = open_steered(dialect, clock)
        SideBySide(seed, clock, MemoryStore(clock), store).live(STEPS)
        store.close()
        traces += traced.traces
        paths = PATHS | (BY_ONE_STATEMENT if dialect.name == "postgresql" else STEP_BY_STEP)
    missed = [name for name, way in paths.items() if not any(map(way, traces))]
    assert missed == [], f"these ways were not gone: {missed}"


def lead_with_bug(opened: Opened, seeds: Iterable[int], bug: Bug) -> bool:
    """Lead lives in a store with a bug; return whether one of them differed."""
    for seed in seeds:
        clock = VirtualClock()
        dialect = opened(seed, clock)
        bug.plant(dialect)
        store, _ = open_steered(dialect, clock)
        try:
            SideBySide(seed, clock, MemoryStore(clock), store).live(STEPS)
        except AssertionError:
            return True
        finally:
            store.close()
    return False
