"""Unique keys: who has one, and who stands in whose way.

Each key is a row, which names the newest execution that was put in under it. Whoever puts one in,
or lets one wait again, locks that row first; what waits or runs is then read afresh.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sempre.domain.states import LIVE, State
from sempre.grids.instants import instant_of
from sempre.ports.messages import Unique
from sempre.stores.sql.dialects import Transaction

__all__ = ["Keys"]


class _Holder(NamedTuple):
    created_at: int
    id: str
    state: str


class Keys:
    """The executions of some keys, which nobody else adds to before the transaction ends."""

    def __init__(self, transaction: Transaction, keys: Iterable[str]) -> None:
        """Lock the keys, and read who has them."""
        asked = sorted(set(keys))
        self._newest: dict[str, _Holder] = {}
        self._rows: dict[str, dict[str, _Holder]] = defaultdict(dict)
        self._put_in: dict[str, str] = {}
        if not asked:
            return
        transaction.run("reserve_keys", keys=asked)
        transaction.rows("lock_keys", keys=asked)
        for key, identity, state, created_at, newest in transaction.rows("keyed_rows", keys=asked):
            holder = _Holder(created_at, identity, state)
            self._rows[key][identity] = holder
            if newest:
                self._newest[key] = holder

    def in_the_way(self, key: str, unique: Unique, now: datetime, besides: str = "") -> str:
        """Return the execution that forbids another one of a key; an empty text if none does."""
        if unique.mode == "period":
            newest = self._newest.get(key)
            if newest is None or newest.id == besides:
                return ""
            return newest.id if instant_of(newest.created_at) > now - unique.period else ""
        states = {*LIVE, State.RUNNING} if unique.mode == "active" else LIVE
        others = [row for row in self._rows[key].values() if row.id != besides]
        return max((row for row in others if row.state in states), default=_NOBODY).id

    def put_in(self, key: str, identity: str, state: str, created_at: int) -> None:
        """Let an execution that comes into being be the newest of its key."""
        holder = _Holder(created_at, identity, state)
        self._newest[key] = self._rows[key][identity] = holder
        self._put_in[key] = identity

    def change(self, key: str, identity: str, state: str) -> None:
        """Note what becomes of an execution of one of the keys; of others nobody asked."""
        if holder := self._rows[key].get(identity):
            self._rows[key][identity] = holder._replace(state=state)

    def write(self, transaction: Transaction) -> None:
        """Write down who is the newest of each key by now."""
        if self._put_in:
            values = [
                {"unique_key": key, "execution_id": each} for key, each in self._put_in.items()
            ]
            transaction.many("hold_key", values)


_NOBODY = _Holder(0, "", "")
