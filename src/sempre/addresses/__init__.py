"""Addresses of stores and brokers: how URLs are spelt, shown, and trusted. Opens nothing."""

__all__: list[str] = []
