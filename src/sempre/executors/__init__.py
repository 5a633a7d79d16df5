"""Executors: what runs the functions of jobs, in threads, on an event loop, in child processes."""

__all__: list[str] = []
