"""Stores: the authorities. Each keeps the promises of `sempre.ports.store`."""

__all__: list[str] = []
