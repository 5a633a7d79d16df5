"""Unique keys: the executions of a key are read and written under a lock.

Each key is a row, which names the newest execution of the key. A transaction that enqueues work of
a key, or lets an execution of a key wait again, locks that row first, and then reads the executions
that wait or run.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sempre.domain.execution import Execution
from sempre.grids.instants import instant_of
from sempre.ports.messages import Enqueued, UniqueKey, Work
from sempre.stores.sql.dialects import Transaction
from sempre.stores.unique_keys import KeyHolder, KeyHolders

__all__ = ["Keys", "ReadHolders", "holders_of"]


ReadHolders = Callable[[Transaction, list[str]], list[Sequence[Any]]]
"""Returns the rows of executions that hold keys, which are locked."""


def holders_of(transaction: Transaction, keys: list[str]) -> list[Sequence[Any]]:
    """Return the rows of executions that hold keys, as this transaction sees them."""
    return transaction.rows("keyed_rows", keys=keys)


class Keys:
    """The executions of locked keys: no other transaction adds to them before this one ends."""

    def __init__(
        self,
        transaction: Transaction,
        keys: Iterable[str],
        read_holders: ReadHolders = holders_of,
    ) -> None:
        """Lock the keys, and read their executions."""
        asked = sorted(set(keys))
        self._of: dict[str, KeyHolders] = defaultdict(KeyHolders)
        self._enqueued: dict[str, KeyHolder] = {}
        if not asked:
            return
        transaction.run("reserve_keys", keys=asked)
        transaction.rows("lock_keys", keys=asked)
        for key, identity, state, created_at, newest, failures, finished_at in read_holders(
            transaction, asked
        ):
            ended = None if finished_at is None else instant_of(finished_at)
            holder = KeyHolder(instant_of(created_at), identity, state, failures, ended)
            self._of[key].rows[identity] = holder
            if newest:
                self._of[key].newest = holder

    def in_the_way(self, key: str, unique: UniqueKey, now: datetime, besides: str = "") -> str:
        """Return the id of the execution that blocks another one; an empty text if none does."""
        return self._of[key].in_the_way(unique, now, besides)

    def refusal(self, key: str, work: Work, unique: UniqueKey, now: datetime) -> Enqueued | None:
        """Return the answer to work that may not be enqueued; None if the work may."""
        return self._of[key].refusal(work, unique, now)

    def enqueue(self, key: str, row: Execution, now: datetime) -> int:
        """Note the newest execution of a key; return the number of failures in a row before."""
        holders = self._of[key]
        holder = KeyHolder(now, row.id, row.state.value, holders.failures)
        holders.newest = holders.rows[row.id] = self._enqueued[key] = holder
        return holder.failures

    def change(self, key: str, identity: str, state: str) -> None:
        """Note the new state of an execution of one of the keys."""
        rows = self._of[key].rows
        if holder := rows.get(identity):
            rows[identity] = holder._replace(state=state)

    def write(self, transaction: Transaction) -> None:
        """Write which execution is the newest of each key."""
        if self._enqueued:
            values = [
                {"unique_key": key, "execution_id": each.id, "failures": each.failures}
                for key, each in self._enqueued.items()
            ]
            transaction.many("hold_key", values)
