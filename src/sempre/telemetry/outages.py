"""Sentences about a store that failed a worker, and about what that worker had to stop."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

__all__ = ["session_lost", "store_down", "store_up"]


def store_down(facts: Mapping[str, Any], _now: datetime) -> str:
    """Return why the store fails."""
    return f"store down: {facts.get('error')}"


def store_up(facts: Mapping[str, Any], _now: datetime) -> str:
    """Return for how long the store failed."""
    return f"store up again after {facts.get('seconds', 0.0):.0f} s"


def session_lost(facts: Mapping[str, Any], _now: datetime) -> str:
    """Return which session is lost, and the executions that are stopped for it."""
    stopped = ", ".join(map(str, facts.get("executions", ())))
    line = f"session {facts.get('session')} lost; its work is stopped"
    return f"{line}: {stopped}" if stopped else line
