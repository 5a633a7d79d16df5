"""Transactions of callers and of jobs, with the drivers and libraries that people use."""
