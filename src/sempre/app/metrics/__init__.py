"""Metrics of an application: what its worker processes count, and what its store holds."""

__all__: list[str] = []
