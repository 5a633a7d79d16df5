"""Brokers: the bells. Each keeps the promises of `sempre.ports.broker`."""

__all__: list[str] = []
