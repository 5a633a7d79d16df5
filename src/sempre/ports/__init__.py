"""Ports: what the engine asks of stores, brokers and executors, as promises."""

__all__: list[str] = []
