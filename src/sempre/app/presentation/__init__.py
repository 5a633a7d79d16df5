"""What people are shown of a store: shared by the command line and the dashboard."""

__all__: list[str] = []
