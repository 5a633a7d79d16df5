"""The forms of a statement: a table, CSV, JSON, and a page to print."""

__all__ = ()
