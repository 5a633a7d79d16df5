"""The memory store: the promises of the port, stated as code. Lost when the process ends."""

from sempre.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
