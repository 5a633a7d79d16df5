"""Telemetry: what the engine tells, as log lines, metrics and traces."""

__all__: list[str] = []
