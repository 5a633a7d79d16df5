"""Runs in child processes: one fork for each, so that a job can harm nothing but itself.

Three parties, and who is authoritative for what:

- the worker decides which run begins (`executor.py`), hears how it went (`listener.py`), and says
  what that means (`verdicts.py`);
- the nursery (`nursery.py`) is a process with one thread, forked before the worker had others. It
  alone forks, signals and reaps children, so a signal never hits a process that took over a pid. It
  keeps their time limits (`limits.py`), as no job can hold it up;
- the child (`child.py`) waits for its run, calls the function and reports, over a socket to the
  worker, which has some forked ahead (`children.py`).

What worker and child tell each other is JSON, each message with its length before it (`frames.py`);
what a child says is checked (`reports.py`). Worker and nursery exchange numbers (`orders.py`). A
child has none of the worker's descriptors but that socket (`descriptors.py`).
"""

from sempre.executors.process.executor import ProcessExecutor

__all__ = ["ProcessExecutor"]
