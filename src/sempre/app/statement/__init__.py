"""Statements of a month, read from a store schedule by schedule."""

from sempre.app.statement.month import MonthStatement, Selected

__all__ = ["MonthStatement", "Selected"]
