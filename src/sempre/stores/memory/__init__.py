"""The memory store: the promises of the port as plain code. Its data ends with the process."""

from sempre.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
