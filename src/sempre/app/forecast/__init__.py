"""Forecasts of a store: its schedules and past durations, read in pages."""

__all__: list[str] = []
