"""Enqueue: calls of jobs become executions of their own, each with a receipt."""

__all__: list[str] = []
