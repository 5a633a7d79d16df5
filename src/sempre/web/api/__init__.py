"""The JSON API of the dashboard, under the roles of pages; its objects are those of `--json`."""

__all__: list[str] = []
