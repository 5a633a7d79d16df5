"""Slots that schedules will run, as commands list them."""

from sempre.app.presentation.slots import TICK, upcoming

__all__ = ["TICK", "upcoming"]
