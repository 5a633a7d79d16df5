"""The room under limits: which executions may start, and which parked ones may go on.

The rules of the memory store and the SQL stores, as functions of the store's facts. Redis has these
rules in a script, where counting and writing must be one step.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import KeyedLimit, limits_of, rank_of
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.planning.plan import Change, Plan
from sempre.domain.states import State

__all__ = ["BULK", "GENEROSITY", "Admissions", "Crowd", "LimitFacts", "Opening", "Rank", "taken"]

Rank = tuple[int, datetime, str]
BULK = 1000
"""How many other due executions a claim parks, at most, when it finds a limit full."""
GENEROSITY = 100
"""How many parked executions a sweep frees beyond the room of a limit that is not full."""


class LimitFacts(Protocol):
    """The facts of a store about limits, read while no other claim changes them."""

    def running(self, key: str) -> int:
        """Return how many executions run under a key."""
        ...

    def starts_after(self, key: str, instant: datetime) -> int:
        """Return how many starts under a key are younger than an instant."""
        ...

    def newest_start(self, key: str, number: int) -> datetime:
        """Return the instant of the newest start under a key (1), the one before (2), and so on."""
        ...

    def first_parked(self, key: str, count: int) -> Sequence[Rank]:
        """Return the ranks of the parked executions of a key that go first, at most `count`."""
        ...


class Crowd(NamedTuple):
    """The executions that wait for a full limit and have the same first key."""

    first_key: str
    full: KeyedLimit


class Admissions:
    """Decides on the starts of one operation, each after those before it.

    Attributes:
        parked: the limit that each refused execution waits for, by id.
        crowds: the limits that were found full.
    """

    def __init__(self, facts: LimitFacts, now: datetime) -> None:
        """Begin without a start."""
        self._facts = facts
        self._now = now
        self._begun: Counter[str] = Counter()
        self.parked: dict[str, KeyedLimit] = {}
        self.crowds: dict[str, Crowd] = {}

    def admit(self, row: Execution, plan: Plan) -> bool:
        """Whether an execution may start by a plan; if not, it is to be parked."""
        limits = limits_of(row.snapshot)
        ended = _ended_by(plan)
        for each in limits:
            room = self._room(each) + ended[each.key]
            if room <= 0:
                self.crowds[row.id] = Crowd(limits[0].key, each)
            if room <= 0 or self._goes_behind(row, each.key, room):
                self.parked[row.id] = each
                return False
        for each in limits:
            self._begun[each.key] += 1 - ended[each.key]
        return True

    def _room(self, keyed: KeyedLimit) -> int:
        limit = keyed.limit
        return limit.count - taken(keyed, self._facts, self._now) - self._begun[keyed.key]

    def _goes_behind(self, row: Execution, key: str, room: int) -> bool:
        """Whether parked executions that go first will need all the room."""
        first = self._facts.first_parked(key, room)
        return sum(rank < rank_of(row) for rank in first) >= room


class Opening:
    """Decides which parked executions of one key are freed, in their order.

    Attributes:
        freed: executions that wait no more.
        moved: executions that wait for their other limit, which is full, with that limit.
        opens: when rates allow the next start of an execution that still waits, by key.
    """

    def __init__(self, key: str, facts: LimitFacts, now: datetime, *, extra: int = 0) -> None:
        """Begin with no execution; `extra` are freed beyond the room if there is any."""
        self._key = key
        self._facts = facts
        self._now = now
        self._extra = extra
        self.freed: list[Execution] = []
        self.moved: list[tuple[Execution, KeyedLimit]] = []
        self.opens: dict[str, datetime] = {}

    def add(self, parked: Iterable[Execution]) -> bool:
        """Decide on the next executions; False once an execution has to wait."""
        for row in parked:
            limits = {each.key: each for each in limits_of(row.snapshot)}
            own = limits.pop(self._key, None)
            if own is not None and not self._has_room(own):
                self._note_opening(own)
                return False
            full = [each for each in limits.values() if self._is_full(each)]
            if full:
                self.moved.append((row, full[0]))
                self._note_opening(full[0])
            else:
                self.freed.append(row)
        return True

    def _has_room(self, own: KeyedLimit) -> bool:
        room = own.limit.count - taken(own, self._facts, self._now)
        return room > 0 and len(self.freed) < room + self._extra

    def _is_full(self, keyed: KeyedLimit) -> bool:
        return taken(keyed, self._facts, self._now) >= keyed.limit.count

    def _note_opening(self, keyed: KeyedLimit) -> None:
        """Note when a rate opens: when its oldest start ends, if the freed executions start now."""
        limit = keyed.limit
        if isinstance(limit, Rate):
            number = min(limit.count, taken(keyed, self._facts, self._now))
            oldest = self._facts.newest_start(keyed.key, number) if number else self._now
            self.opens[keyed.key] = oldest + limit.period


def taken(keyed: KeyedLimit, facts: LimitFacts, now: datetime) -> int:
    """Return how much of a limit is taken: runs at present, or starts younger than the period."""
    limit = keyed.limit
    if isinstance(limit, Concurrency):
        return facts.running(keyed.key)
    return facts.starts_after(keyed.key, now - limit.period)


def _ended_by(plan: Plan) -> Counter[str]:
    """Return how many running executions a plan ends, by the key of their concurrency."""
    ended = (change.before for change in plan.changes if _ends_run(change))
    limits = (each for row in ended for each in limits_of(row.snapshot))
    return Counter(each.key for each in limits if isinstance(each.limit, Concurrency))


def _ends_run(change: Change) -> bool:
    return change.before.state is State.RUNNING and change.after.state is not State.RUNNING
