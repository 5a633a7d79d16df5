"""The commands: one module each, named as the command is typed.

Opposites share a module: `resume` is in `pause`, `unskip` in `skip`, `disable` in `enable`.
"""

__all__: list[str] = []
