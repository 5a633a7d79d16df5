"""Views: each page reads what it shows by bounded queries, and returns plain values."""

__all__: list[str] = []
