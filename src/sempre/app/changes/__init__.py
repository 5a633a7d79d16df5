"""Planned changes: preview an edit, a verb or a deploy, keep it in a file, apply exactly that."""

__all__: list[str] = []
