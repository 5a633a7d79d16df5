"""Sentences about schedules: what a deploy did to one, and what is wrong with its grid or clock."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sempre.errors.wording import counted, written_instant

__all__ = ["broken", "came_back", "declared", "failing", "mended", "unserved"]

NAMED = 5
Sentence = Callable[[Mapping[str, Any], datetime], str]


def failing(words: str) -> Sentence:
    """Return a sentence that names a schedule and an error."""
    return lambda facts, _now: f"{facts.get('schedule')} {words}: {facts.get('error')}"


def declared(words: str) -> Sentence:
    """Return a sentence about what a deploy did to a schedule, with the remedy."""

    def sentence(facts: Mapping[str, Any], _now: datetime) -> str:
        remedy = facts.get("remedy")
        advice = f"; try: {remedy}" if remedy else ""
        return f"{facts.get('schedule')} {words}: {facts.get('reason')}{advice}"

    return sentence


def broken(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a schedule cannot go on, and why."""
    name = facts.get("schedule")
    follows = "Once its waiting row has run, no other follows"
    return f"{name} has a broken grid: {facts.get('error')} {follows}. See: sempre show {name}"


def mended(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a broken schedule goes on."""
    name, slot = facts.get("schedule"), facts.get("next_run_at")
    told = written_instant(slot) if isinstance(slot, datetime) else "none"
    return f"{name} has a working grid again; next slot {told}"


def unserved(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say which due work no live worker can run, and what to start."""
    names, count = facts.get("names") or (), facts.get("executions", 0)
    due = f"{counted(count, 'execution')} due and not run ({', '.join(names[:NAMED])})"
    return f"{due}: {facts.get('reason')}; try: {facts.get('remedy')}"


def came_back(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a schedule was ahead of the store's clock."""
    ahead = f"{facts.get('schedule')} was {facts.get('seconds')} s ahead of the store's clock"
    return f"{ahead}, which had jumped, and goes on from now"
