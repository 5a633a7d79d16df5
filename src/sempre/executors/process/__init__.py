"""Runs in child processes: one fork for each, so that a job can harm no run but its own.

Three parties, and the decisions of each:

- the worker decides which run begins (`executor.py`), reads reports (`listener.py`), and decides
  what the end of a child means (`child_runs.py`);
- the fork server (`fork_server.py`, started by `server_process.py`) is a process with one thread,
  forked before the worker has other threads. Only the fork server forks, signals and reaps
  children, so a signal never hits a process that has taken over a pid. The fork server keeps the
  time limits of the children (`time_limits.py`), as no job can block the fork server;
- the child (`child_main.py`, `child_link.py`) waits for its run, calls the function and reports,
  over a socket to the worker, which has two children forked ahead (`children.py`).

Worker and child exchange JSON (`frames.py`); the worker checks messages of a child (`reports.py`).
Worker and fork server exchange numbers (`server_messages.py`). The only descriptor of the worker
that a child has is its own socket (`descriptors.py`).
"""

from sempre.executors.process.executor import ProcessExecutor

__all__ = ["ProcessExecutor"]
