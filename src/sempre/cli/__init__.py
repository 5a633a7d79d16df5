"""The command line `sempre`: `main` has the commands, `commands` a module for each."""

from sempre.cli.main import main

__all__ = ["main"]
