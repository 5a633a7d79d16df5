"""The error tree: one root, one class per kind of mistake, each naming the thing and the remedy.

    SempreError
    ├── InvalidInput            a value was refused; nothing was changed
    │   ├── CronError           a cron text
    │   │   └── NeverFires      a cron text that matches no date at all
    │   ├── IntervalError       an interval or a duration
    │   ├── ZoneError           a time zone
    │   ├── InstantError        a naive, malformed or absurd instant
    │   ├── GridError           a grid that cannot be stored, or two rules for one schedule
    │   ├── NamingError         a name of a schedule, job, queue, tag or owner
    │   ├── ArgumentsError      the arguments of a job
    │   └── PolicyError         a policy of a schedule
    ├── UnknownGrid             a stored grid that this process cannot build
    ├── BrokenGrid              a grid that answered with an instant it must not answer with
    ├── IllegalTransition       a change of state that an execution must not make
    ├── Refused                 a valid request that the present state does not allow
    ├── NotInJob                `current()` was called outside of a job
    ├── RunCancelled            a job ends itself because its run was cancelled
    ├── Skip                    a job ends itself: there is nothing to do
    ├── GiveUp, RetryLater      a job ends itself: no retry, a later one (domain/job_ends.py)
    ├── ResultError             work that was waited for succeeded, but its value is not stored
    │   ├── ResultNotJson       the value is not JSON; its repr is kept
    │   └── ResultTooLarge      the value is larger than the limit
    ├── WorkFailed              work that was waited for did not succeed
    ├── NotFinished             work that was waited for has not ended in time
    ├── NotFound                no schedule, job or other thing has that name
    ├── Contended               concurrent changes won every time; a retry is safe
    ├── MissingExtra            a driver that is not installed
    ├── TransactionError        a transaction of the caller's that cannot be joined
    │   └── NotSameDatabase     a transaction in another database than the store
    ├── BrokerError             the broker
    │   └── BrokerUnavailable   the broker is down or refuses; the store continues alone
    └── StoreError              the store
        ├── StoreUnavailable    no connection or no answer; the outcome is unknown
        │   └── StoreLocked     another process has locked the file of the store
        ├── StoreRefused        the store must not be used as it is set up
        │   └── StoreGone       the store was never set up, or has been emptied
        └── UnreadableRow       this process cannot read one row of the store

Catch `SempreError` for everything this package raises on purpose.
"""

from typing import TYPE_CHECKING, Self

from sempre.errors.texts import as_shown, nearest, printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "NOT_SET_UP",
    "ArgumentsError",
    "BrokenGrid",
    "BrokerError",
    "BrokerUnavailable",
    "Contended",
    "CronError",
    "GridError",
    "IllegalTransition",
    "InstantError",
    "IntervalError",
    "InvalidInput",
    "MissingExtra",
    "NamingError",
    "NeverFires",
    "NotFinished",
    "NotFound",
    "NotInJob",
    "NotSameDatabase",
    "PolicyError",
    "Refused",
    "ResultError",
    "ResultNotJson",
    "ResultTooLarge",
    "RunCancelled",
    "SempreError",
    "Skip",
    "StoreError",
    "StoreGone",
    "StoreLocked",
    "StoreRefused",
    "StoreUnavailable",
    "TransactionError",
    "UnknownGrid",
    "UnreadableRow",
    "WorkFailed",
    "ZoneError",
    "nearest",
    "printable",
    "printable_json",
]


class SempreError(Exception):
    """The root of every error that this package raises on purpose."""


class InvalidInput(SempreError, ValueError):
    """A value was refused before anything was changed.

    Attributes:
        field: what was being set, as the user wrote or knows it.
        value: the refused value.
        allowed: what would have been accepted.
        hint: the likely intention, or an empty text.
        whole: the text that the value is a part of, or an empty text.
    """

    def __init__(
        self, field: str, value: object, *, allowed: str, hint: str = "", whole: str = ""
    ) -> None:
        """Compose the sentence a user sees from its parts."""
        self.field = field
        self.value = value
        self.allowed = allowed
        self.hint = hint
        self.whole = whole
        place = f" (in {as_shown(whole)})" if whole else ""
        sentence = f"{field}: {as_shown(value)} is not accepted{place}; allowed: {allowed}."
        super().__init__(f"{sentence} {hint}" if hint else sentence)

    def within(self, whole: str) -> Self:
        """Return this error as an error about a part of a longer text."""
        return type(self)(self.field, self.value, allowed=self.allowed, hint=self.hint, whole=whole)


class CronError(InvalidInput):
    """A cron text that cannot be read; `field` names the part of it."""


class NeverFires(CronError):
    """A cron text that can be read but matches no date of any year."""


class IntervalError(InvalidInput):
    """An interval or duration that is not a number, too short, or of an unknown unit."""


class ZoneError(InvalidInput):
    """A time zone that the installed tzdata does not have."""


class InstantError(InvalidInput):
    """An instant without a zone, out of the calendar, or not readable."""


class GridError(InvalidInput):
    """A grid that cannot be stored, or a schedule with none or two of them."""


class NamingError(InvalidInput):
    """A name that is empty, too long, or has control characters."""


class ArgumentsError(InvalidInput):
    """Arguments that are not plain JSON of a bounded size."""


class PolicyError(InvalidInput):
    """A policy outside its range, or in conflict with another policy."""


class UnknownGrid(SempreError):
    """A stored grid has a class that is not registered here, or parameters that it refuses."""

    def __init__(self, name: str, *, known: "Iterable[str]" = (), refusal: object = None) -> None:
        """Name the grid, and the grids that this process knows or the error of the class."""
        self.name = name
        text = f'no grid is registered as "{name}" in this process (known: '
        text += ", ".join(sorted(known))
        text += "); import the module that defines it before the worker starts."
        if refusal is not None:
            remedy = "Upgrade this process: pip install --upgrade sempre tzdata"
            text = f'the grid "{name}" is not understood by this process: {refusal} {remedy}'
        super().__init__(text)


class BrokenGrid(SempreError):
    """A grid raised, or answered with an instant that is naive or not later than asked."""


class IllegalTransition(SempreError):
    """A change of state that the table of transitions does not allow."""


class Refused(SempreError):
    """A valid request that the present state of a schedule or execution does not allow."""


class NotInJob(SempreError, LookupError):
    """`current()` was called outside of a running job."""


class RunCancelled(SempreError):
    """The run was cancelled; raised by `current().raise_if_cancelled()`. Do not catch it."""


class Skip(SempreError):
    """Raised inside a job: there is nothing to do; the execution is skipped with this reason."""


class ResultError(SempreError):
    """The work succeeded, but the store does not hold what the job returned.

    Attributes:
        execution_id: of the work that was waited for.
    """

    def __init__(self, execution_id: str, sentence: str) -> None:
        """Compose the sentence a user sees."""
        self.execution_id = execution_id
        super().__init__(f"execution {execution_id} succeeded, but {sentence}")


class ResultNotJson(ResultError):
    """What a job returned is not JSON that every store can hold; its repr is kept.

    Attributes:
        type_name: of the value, such as "decimal.Decimal".
        text: the repr of the value, at most 8,192 bytes of it.
    """

    def __init__(self, execution_id: str, *, type_name: str, text: str, shown: str) -> None:
        """Name the type and the remedy; `shown` is the repr without its secrets."""
        self.type_name = type_name
        self.text = text
        super().__init__(
            execution_id,
            f"what it returned is not JSON and only its repr is stored: {as_shown(shown)[1:-1]} "
            f"({type_name}). Return plain JSON, such as str(value).",
        )


class ResultTooLarge(ResultError):
    """What a job returned is larger than the limit and was not stored.

    Attributes:
        size: of its JSON in bytes.
        limit: that was in force.
    """

    def __init__(self, execution_id: str, *, size: int, limit: int) -> None:
        """Name the size, the limit and the setting to raise."""
        self.size = size
        self.limit = limit
        super().__init__(
            execution_id,
            f"what it returned is not stored: {size:,} bytes of JSON, and the limit is {limit:,}. "
            f"Raise Sempre(result_limit=...), or store the value and return its id.",
        )


class WorkFailed(SempreError):
    """Work that the caller waited for has failed, or was cancelled or skipped."""


class NotFinished(SempreError, TimeoutError):
    """Work that the caller waited for has not ended in time; the work continues."""


class MissingExtra(SempreError):
    """An optional dependency is needed and not installed; the message says what to install."""

    def __init__(self, package: str, *, extra: str) -> None:
        """Name the package and the extra that brings it."""
        self.package = package
        self.extra = extra
        super().__init__(f'{package} is not installed; run: pip install "sempre[{extra}]"')


class TransactionError(SempreError):
    """Work cannot commit together with the caller's own rows; nothing was written."""


class NotSameDatabase(TransactionError):
    """The caller's connection is to another database than the store, or cannot see the store.

    Attributes:
        store: where the store is.
        found: the database of the caller's connection.
    """

    def __init__(self, *, store: str, found: str) -> None:
        """Name both places and the remedy."""
        self.store = store
        self.found = found
        super().__init__(
            f"the store is {store}, but the transaction is in {found}: two databases cannot commit "
            "together. Give a connection to the store's database, or enqueue without tx= after "
            "your own commit."
        )


class NotFound(SempreError, LookupError):
    """No schedule, job or other thing has that name.

    Attributes:
        kind: the kind of the thing, such as "schedule".
        name: the name that was not found.
    """

    def __init__(self, kind: str, name: str, *, hint: str = "") -> None:
        """Compose the sentence a user sees."""
        self.kind = kind
        self.name = name
        super().__init__(f'no {kind} "{name}". {hint}'.strip())


class Contended(SempreError):
    """Concurrent changes of the schedule won every time; a retry is safe."""


class BrokerError(SempreError):
    """The broker failed or refused a request."""


class BrokerUnavailable(BrokerError):
    """The broker is down, full, draining or read-only. No work is lost: the store has the rows."""


class StoreError(SempreError):
    """Something is wrong with the store, not with the request."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or did not answer; the request may have been carried out."""


class StoreLocked(StoreUnavailable):
    """Another process has locked the file of the store. Nothing was written; retry later."""


class StoreRefused(StoreError):
    """The set-up or the version of the store would break promises."""


NOT_SET_UP = (
    "the store is not set up yet, or somebody has emptied it: run `sempre db upgrade`, or call "
    "upgrade() once"
)


class StoreGone(StoreRefused):
    """The store was never set up, or has been emptied."""


class UnreadableRow(StoreError):
    """This process cannot read a row of the store."""
