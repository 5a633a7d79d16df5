"""The definition of a schedule, as commands print it."""

from sempre.app.presentation.definitions import definition_json, definition_lines

__all__ = ["definition_json", "definition_lines"]
