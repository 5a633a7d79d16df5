"""Checks of callers' connections, and the connection of a job, whatever the driver."""

from typing import NoReturn

from sempre.errors import TransactionError

__all__ = ["JobConnection", "check_begun", "check_driver", "check_encoding"]


class JobConnection:
    """A driver's connection that a job writes with: only the worker ends its transaction.

    A base class that comes before the driver's own.

    Attributes:
        also: what else would end the transaction, as the end of a sentence.
    """

    also = ""

    def commit(self) -> NoReturn:
        """Refuse."""
        self._refuse()

    def rollback(self) -> NoReturn:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TransactionError(
            "current().tx is committed by the worker when the job returns, and rolled back when it "
            f"raises: do neither in the job{self.also}."
        )


def check_driver(connection: object, driver: type, place: str, *, remedy: str) -> None:
    """Raise TransactionError unless a connection is of the store's own driver."""
    if not isinstance(connection, driver):
        kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
        raise TransactionError(
            f"the store is {place}, but the transaction is of a {kind}. {remedy}, or enqueue "
            "without tx= after your own commit."
        )


def check_begun(place: str, *, is_begun: bool, remedy: str) -> None:
    """Raise TransactionError if a connection would commit each statement."""
    if not is_begun:
        raise TransactionError(
            f"the connection to {place} is in no transaction and begins none by itself. {remedy}, "
            "or enqueue without tx=."
        )


def check_encoding(encoding: str, *, is_utf8: bool, remedy: str) -> None:
    """Raise TransactionError if a connection cannot carry every text."""
    if not is_utf8:
        raise TransactionError(
            f"the connection speaks {encoding}, in which not every text can be said; {remedy}."
        )
