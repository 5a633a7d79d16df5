"""What stores can do."""

from dataclasses import dataclass

__all__ = ["Capabilities"]


@dataclass(frozen=True)
class Capabilities:
    """What a store can do, declared; nobody finds out by trying.

    Attributes:
        durable: whether an acknowledged write survives the end of the process.
        shared: whether several processes can use it at once.
        own_clock: whether its now comes from a server rather than from this host.
        transactional: whether a user's own rows can commit together with ours.
    """

    durable: bool
    shared: bool
    own_clock: bool
    transactional: bool
