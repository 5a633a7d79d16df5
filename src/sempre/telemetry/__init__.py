"""Telemetry: events of the engine as log lines."""

__all__: list[str] = []
