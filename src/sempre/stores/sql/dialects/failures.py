"""What the errors of a driver mean to the store."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sempre.errors import NOT_SET_UP, StoreError, StoreGone, StoreRefused, StoreUnavailable

__all__ = ["Failures"]

Code = int | str


@dataclass(frozen=True)
class Failures:
    """The codes of a database's errors by what they mean, each with what to do next.

    Attributes:
        gone: the tables of the store are not there.
        refused: the database cannot be used until it, or the URL, is changed.
        unavailable: the database may be used again later.
    """

    gone: Collection[Code]
    refused: Mapping[Code, str]
    unavailable: Mapping[Code, str]

    def explain(self, place: str, code: Code, words: str, *, is_rule: bool) -> StoreError:
        """Return an error of the store.

        Args:
            place: where the database is, without its password.
            code: of the driver's error.
            words: what the database said.
            is_rule: whether a write broke a rule of the schema.
        """
        if code in self.gone:
            return StoreGone(f"{place} cannot be used: {NOT_SET_UP} ({words}).")
        if code in self.refused:
            return StoreRefused(f"{place} cannot be used: {self.refused[code]} ({words}).")
        if code in self.unavailable:
            return StoreUnavailable(f"{place} failed: {self.unavailable[code]} ({words}).")
        if is_rule:
            return StoreError(f"{place} refused a write that breaks its rules: {words}.")
        return StoreUnavailable(f"{place} failed: {words}.")
