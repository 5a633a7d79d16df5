"""The refusal of a store whose schema is older than the code."""

from sempre.errors import StoreRefused

__all__ = ["OutdatedSchema"]


class OutdatedSchema(StoreRefused):
    """The schema of the store is older than this code; `sempre db upgrade` brings it up to date."""

    def __init__(self, version: int, known: int) -> None:
        """Name the version of the store and the version that the code knows."""
        super().__init__(
            f"the store has version {version} of the schema, and this is the code of version "
            f"{known}; run `sempre db upgrade`, when no older process is left."
        )
