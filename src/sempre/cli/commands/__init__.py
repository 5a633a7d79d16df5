"""The commands, a module for each family; the group imports the one that is asked for."""

__all__: list[str] = []
