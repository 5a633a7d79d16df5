"""Schedules as users declare, create, deploy and operate them."""

__all__: list[str] = []
