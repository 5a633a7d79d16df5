"""What users and authors of adapters test with; nothing here is needed to run jobs."""

__all__: list[str] = []
