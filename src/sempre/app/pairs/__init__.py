"""Pairs: a job and the query over the user's tables that derives which runs should exist."""

__all__: list[str] = []
