"""Builders of the contracts about limits."""

from collections.abc import Iterable
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import keys_of
from sempre.domain.limits import Concurrency
from sempre.ports.limits import Opened
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    claim_order,
    enqueued,
    read,
)

__all__ = ["ONE", "claim_each", "limited", "opened", "parked"]

ONE = (Concurrency(1),)


def limited(store: Store, count: int, **options: Any) -> list[str]:  # noqa: ANN401 - handed on
    """Enqueue pieces of work with a limit, by default one run at once; return their ids."""
    return [enqueued(store, **({"limits": ONE} | options)) for _ in range(count)]


def claim_each(store: Store, ids: Iterable[str], session: str) -> list[Execution | None]:
    """Claim executions by one operation."""
    return store.claim([claim_order(store, each) for each in ids], session=session)


def opened(store: Store, *ids: str) -> Opened:
    """Open the limits of executions."""
    return store.open_limits(keys_of(read(store, each) for each in ids), limit=1000).value


def parked(store: Store, ids: Iterable[str]) -> list[str]:
    """Return the executions among these that wait for a limit."""
    return [each for each in ids if read(store, each).held_by.startswith("limit:")]
