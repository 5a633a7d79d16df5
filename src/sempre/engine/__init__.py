"""The engine: every worker is the scheduler.

Plain step functions over a store and a broker. What loops, waits and owns threads is in
`worker.py` alone; a simulator calls the same steps one by one.
"""

__all__: list[str] = []
