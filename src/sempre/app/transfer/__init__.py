"""Export of a store to a file of lines, and import of such a file into any store."""

__all__: list[str] = []
