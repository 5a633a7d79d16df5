"""Unique keys: who has one, and who stands in whose way.

Each key is a row, which names the newest execution that was put in under it. Whoever puts one in,
or lets one wait again, locks that row first; what waits or runs is then read afresh.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.states import LIVE, State
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Enqueued, UniqueKey, Work
from sempre.stores.sql.dialects import Transaction

__all__ = ["Keys", "ReadHolders", "holders_of"]


ReadHolders = Callable[[Transaction, list[str]], list[Sequence[Any]]]
"""Returns the rows of executions that hold keys, which are locked."""


class _Holder(NamedTuple):
    created_at: int
    id: str
    state: str
    failures: int = 0
    finished_at: int | None = None


def holders_of(transaction: Transaction, keys: list[str]) -> list[Sequence[Any]]:
    """Return the rows of executions that hold keys, as this transaction sees them."""
    return transaction.rows("keyed_rows", keys=keys)


class Keys:
    """The executions of some keys, which nobody else adds to before the transaction ends."""

    def __init__(
        self,
        transaction: Transaction,
        keys: Iterable[str],
        read_holders: ReadHolders = holders_of,
    ) -> None:
        """Lock the keys, and read who has them."""
        asked = sorted(set(keys))
        self._newest: dict[str, _Holder] = {}
        self._rows: dict[str, dict[str, _Holder]] = defaultdict(dict)
        self._put_in: dict[str, _Holder] = {}
        if not asked:
            return
        transaction.run("reserve_keys", keys=asked)
        transaction.rows("lock_keys", keys=asked)
        for key, identity, *known, newest, failures, finished_at in read_holders(
            transaction, asked
        ):
            state, created_at = known
            holder = _Holder(created_at, identity, state, failures, finished_at)
            self._rows[key][identity] = holder
            if newest:
                self._newest[key] = holder

    def in_the_way(self, key: str, unique: UniqueKey, now: datetime, besides: str = "") -> str:
        """Return the execution that forbids another one of a key; an empty text if none does."""
        if unique.mode == "period":
            newest = self._newest.get(key)
            if newest is None or newest.id == besides:
                return ""
            return newest.id if instant_of(newest.created_at) > now - unique.period else ""
        states = {*LIVE, State.RUNNING} if unique.mode == "active" else LIVE
        others = [row for row in self._rows[key].values() if row.id != besides]
        return max((row for row in others if row.state in states), default=_NOBODY).id

    def failures(self, key: str) -> int:
        """Return how many of a key have failed in a row, the newest one included."""
        newest = self._newest.get(key, _NOBODY)
        if newest.state == State.FAILED:
            return newest.failures + 1
        return newest.failures if newest.state in {*LIVE, State.RUNNING} else 0

    def refusal(self, key: str, work: Work, unique: UniqueKey, now: datetime) -> Enqueued | None:
        """Return what a piece of work of a key is told that may not be put in; None if it may."""
        failures = self.failures(key)
        if other := self.in_the_way(key, unique, now):
            return Enqueued(other, created=False, failures=failures)
        newest = self._newest.get(key, _NOBODY)
        if work.backoff is None or newest.state != State.FAILED or newest.finished_at is None:
            return None
        until = instant_of(newest.finished_at) + work.backoff.wait(failures)
        refused = Enqueued(newest.id, created=False, failures=failures, waits_until=until)
        return refused if until > now else None

    def put_in(self, key: str, row: Execution, now: datetime) -> int:
        """Let an execution be the newest of its key; return how many failed in a row before."""
        holder = _Holder(microseconds_of(now), row.id, row.state.value, self.failures(key))
        self._newest[key] = self._rows[key][row.id] = self._put_in[key] = holder
        return holder.failures

    def change(self, key: str, identity: str, state: str) -> None:
        """Note what becomes of an execution of one of the keys; of others nobody asked."""
        if holder := self._rows[key].get(identity):
            self._rows[key][identity] = holder._replace(state=state)

    def write(self, transaction: Transaction) -> None:
        """Write down who is the newest of each key by now."""
        if self._put_in:
            values = [
                {"unique_key": key, "execution_id": each.id, "failures": each.failures}
                for key, each in self._put_in.items()
            ]
            transaction.many("hold_key", values)


_NOBODY = _Holder(0, "", "")
