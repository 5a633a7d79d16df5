"""The capabilities of a store."""

from dataclasses import dataclass

__all__ = ["Capabilities"]


@dataclass(frozen=True)
class Capabilities:
    """What a store can do, declared: callers never find out by trying.

    Attributes:
        durable: whether an acknowledged write survives the end of the process.
        shared: whether several processes can use the store at once.
        remote: whether the store is a server: each call is a round trip, and its clock is not the
            clock of this host.
        transactional: whether rows of the user can commit together with rows of the store.
    """

    durable: bool
    shared: bool
    remote: bool
    transactional: bool
