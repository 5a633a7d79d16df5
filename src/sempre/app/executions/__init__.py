"""Executions of the store as users list and operate them."""

__all__: list[str] = []
