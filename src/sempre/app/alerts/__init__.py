"""Alerts: incidents are derived from rows by a scan, and delivered as one-off work."""

__all__: list[str] = []
