"""The command line: operates from the store's URL alone; only `worker` and `dev` import code."""

from sempre.cli.main import main

__all__ = ["main"]
