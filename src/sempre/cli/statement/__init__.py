"""The statement of a month in a terminal."""

__all__ = ()
