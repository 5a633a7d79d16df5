"""The health of a store: facts that are read, and checks that decide about them."""

__all__: list[str] = []
