"""Limits in the judge: no limit is ever exceeded, counted from the tables and the starts."""

import math
from collections import defaultdict
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import KeyedLimit, limits_of, parked_under
from sempre.domain.limits import Concurrency
from sempre.domain.states import State
from sempre.stores.memory.tables import Tables
from sempre.testing.simulation.stage import Broken

__all__ = ["LimitBook"]


class LimitBook:
    """The starts under each rate, and who runs under each concurrency."""

    def __init__(self, tables: Tables) -> None:
        """Read the tables of a store."""
        self._tables = tables
        self._starts: defaultdict[str, list[datetime]] = defaultdict(list)

    def judge_start(self, row: Execution, now: datetime, *, doubt: bool) -> None:
        """10: raise if a start exceeds a limit; after a jump of the clock, rates are not judged.

        Each execution counts those that started before it: their own numbers may be higher.
        """
        for each in limits_of(row.snapshot):
            self._starts[each.key].append(now)
            taken = self._taken(each, now, until=row.fence)
            is_judged = isinstance(each.limit, Concurrency) or not doubt
            if is_judged and taken > each.limit.count:
                raise Broken(f"10: {row.id} exceeds {each.limit}: {taken} of {each.key}")

    def check_parked(self, now: datetime) -> None:
        """Raise if executions wait for a limit that has room."""
        rows = [row for row in self._tables.executions.values() if row.is_live and row.held_by]
        for row in rows:
            for each in limits_of(row.snapshot):
                waits = row.held_by == parked_under(each.key)
                if waits and self._taken(each, now) < each.limit.count:
                    raise Broken(f"10: {row.id} waits for {each.limit}, which has room")

    def _taken(self, keyed: KeyedLimit, now: datetime, *, until: float = math.inf) -> int:
        """Return how much of a limit is taken, by runs with a fence of `until` at most."""
        limit, key = keyed.limit, keyed.key
        if isinstance(limit, Concurrency):
            rows = (row for row in self._tables.executions.values() if row.state is State.RUNNING)
            keys = (
                {each.key for each in limits_of(row.snapshot)} for row in rows if row.fence <= until
            )
            return sum(key in each for each in keys)
        return sum(start > now - limit.period for start in self._starts[key])
