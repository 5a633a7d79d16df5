"""Time travel for users: their application on virtual time; see `TimeTravel`."""

from sempre.testing.travel.time_travel import TimeTravel

__all__ = ["TimeTravel"]
