"""The JSON API of the dashboard, under the same roles; its objects are those of `--json`."""

__all__: list[str] = []
