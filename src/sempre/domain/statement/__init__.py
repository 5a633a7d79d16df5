"""Statements: the slots that a grid demanded in a month, against what happened to each; pure."""

__all__ = ()
