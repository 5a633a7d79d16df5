"""The live screen: what it reads from the store, and how it is drawn."""

__all__: list[str] = []
