"""Runs in child processes: one fork for each, so that a job can harm nothing but itself.

Three parties, and who is authoritative for what:

- the worker (`executor.py`) decides: which run begins, when its time is over, how it ended;
- the nursery (`nursery.py`) is a process with one thread, forked before the worker had others. It
  alone forks, signals and reaps children, so a signal never hits a process that took over a pid;
- the child (`child.py`) waits for its run, calls the function and reports, over a socket to the
  worker, which has some forked ahead (`children.py`).

What worker and child tell each other is JSON, each message with its length before it (`frames.py`);
worker and nursery exchange numbers (`orders.py`).
"""

from sempre.executors.process.executor import ProcessExecutor

__all__ = ["ProcessExecutor"]
