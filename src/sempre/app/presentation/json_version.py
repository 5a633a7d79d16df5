"""The version of the JSON objects that commands print and pages hand out."""

__all__ = ["JSON_VERSION"]

JSON_VERSION = 3
"""The key `v` of each object; it changes when a field goes or changes its meaning."""
