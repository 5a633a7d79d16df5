"""The domain: what schedules and executions are, and what should be done about them. Pure."""

__all__: list[str] = []
