"""Retries of transactions: how every dialect runs a transaction, and which ones are repeated.

A transaction that had no effect is repeated a bounded number of times: the transaction lost a race,
lost its connection before a commit was possible, or left a fast path that did not fit the rows. If
the connection is lost later, the outcome of the commit is unknown, and the failure is reported.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from random import Random
from threading import Event
from typing import Generic, Protocol, TypeVar

from sempre.errors import StoreError
from sempre.stores.sql.dialects import FastPathMiss, Transaction

__all__ = ["TRIES", "BegunTransaction", "RetryingDialect"]

C = TypeVar("C")
T = TypeVar("T")
TRIES = 5
# In seconds: spreads the tries of several processes.
LONGEST_PAUSE = 0.1
# A generator of its own: the application may have seeded the one that Python shares.
_PAUSES = Random()  # noqa: S311 - no secret


class BegunTransaction(Transaction, Protocol):
    """A transaction of the store's own."""

    @property
    def is_begun(self) -> bool:
        """Whether the database may have done something that a commit keeps."""
        ...


class RetryingDialect(ABC, Generic[C]):
    """Runs transactions on connections of a driver, and repeats those that had no effect.

    Attributes:
        driver_error: the root of the driver's errors.
    """

    driver_error: type[Exception]

    def __init__(self, wait: Callable[[float], object] | None) -> None:
        """Pass the seconds between two tries by `wait`; by default, sleep."""
        self._wait = wait or Event().wait

    def _transact(self, begin: Sequence[str], work: Callable[[Transaction], T]) -> T:
        """Run work in a transaction that these statements begin; repeat it if it had no effect."""
        for left in reversed(range(TRIES)):
            try:
                with self._connected() as connection:
                    is_first = left == TRIES - 1
                    return self._try_once(connection, begin, work, may_miss=is_first)
            except FastPathMiss:
                continue
            except (_Lost, self.driver_error) as failure:
                error = failure.cause if isinstance(failure, _Lost) else failure
                self._note_failure(error, is_lost=isinstance(failure, _Lost))
                is_repeated = isinstance(failure, _Lost) or self._is_race(error)
                if not is_repeated or not left:
                    raise self._explain(error) from None
            self._wait(_PAUSES.random() * LONGEST_PAUSE)
        raise AssertionError

    def _try_once(
        self,
        connection: C,
        begin: Sequence[str],
        work: Callable[[Transaction], T],
        *,
        may_miss: bool,
    ) -> T:
        transaction: BegunTransaction | None = None
        try:
            transaction = self._begin(connection, begin)
            transaction.may_miss = may_miss
            answer = work(transaction)
            self._commit(connection, transaction)
        except BaseException as error:
            self._roll_back(connection)
            is_begun = transaction is not None and transaction.is_begun
            if isinstance(error, self.driver_error) and not is_begun:
                self._check_lost(connection, error)
            raise
        return answer

    def _check_lost(self, connection: C, error: Exception) -> None:
        if self._is_lost(connection, error):
            raise _Lost(error) from error

    @abstractmethod
    def _connected(self) -> AbstractContextManager[C]:
        """Lend a connection that no other thread uses meanwhile."""

    @abstractmethod
    def _begin(self, connection: C, begin: Sequence[str]) -> BegunTransaction:
        """Begin a transaction; without statements, each statement is a transaction by itself."""

    @abstractmethod
    def _commit(self, connection: C, transaction: BegunTransaction) -> None:
        """Commit a transaction to disk, if it has begun."""

    @abstractmethod
    def _roll_back(self, connection: C) -> None:
        """End what is left of a transaction, or give the connection up; raise no driver error."""

    @abstractmethod
    def _is_lost(self, connection: C, error: BaseException) -> bool:
        """Whether a connection is gone, and another one may do better."""

    @abstractmethod
    def _is_race(self, error: Exception) -> bool:
        """Whether other transactions were in the way, and the work may succeed when repeated."""

    def _note_failure(self, error: Exception, *, is_lost: bool) -> None:
        """Drop idle connections that have the same fault."""

    @abstractmethod
    def _explain(self, error: Exception) -> StoreError:
        """Return a failure of the database in our words, with what to do next."""


class _Lost(Exception):
    """The connection was lost before anything could be committed."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
