"""The parts of a drill: kill workers, compare the store with a baseline, reach a verdict."""

__all__: list[str] = []
