"""The health of a store: facts that are read, and checks that decide about them.

The command line prints what the checks find; other users of the package show it in their own way.
"""

__all__: list[str] = []
