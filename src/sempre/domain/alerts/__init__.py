"""Alerts: incidents derived from rows, and the messages that each incident should cause. Pure."""

__all__: list[str] = []
