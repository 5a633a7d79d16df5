"""Workers as processes and threads: start, signals, the wait for a store, the end."""

__all__: list[str] = []
