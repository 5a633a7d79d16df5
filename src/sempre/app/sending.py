"""What an application offers for putting work in."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from sempre.app.enqueuing import Enqueuer, Manner, read_spread
from sempre.app.jobs import Call, Job
from sempre.app.options import Duration, PairOptions, Sending, SendOptions
from sempre.app.pairs import PAIR_OPTIONS, declare_pair, read_pair
from sempre.app.receipts import Receipt
from sempre.app.transactions import caller_transaction, transaction

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["Sends"]

R = TypeVar("R")


class Sends:
    """The side of an application that puts work in."""

    def send(self, call: Call[R], sending: Sending) -> Receipt[R]:
        """Put a call in as an execution of its own; see `Job.enqueue`."""
        return self._enqueuer.send(call, sending)

    def joins(self, sending: Sending) -> bool:
        """Tell whether a call would become part of a transaction of the caller's own."""
        return caller_transaction(self, sending.tx) is not None

    def pair(self, job: Job[..., Any], query: Callable[..., object], options: PairOptions) -> None:
        """Declare the pair of a job; see `Job.pair`."""
        own = {name: value for name, value in options.items() if name in PAIR_OPTIONS}
        rest = {name: value for name, value in options.items() if name not in PAIR_OPTIONS}
        done = options.get("done")
        declare_pair(cast("Sempre", self), read_pair(job, query, own), done, rest)

    def enqueue_many(
        self,
        calls: Iterable[Call[Any] | Job[..., Any]],
        *,
        spread: Duration | None = None,
        **options: Unpack[SendOptions],
    ) -> list[Receipt[Any]]:
        """Put many calls in, a thousand in one round trip, as they come out of an iterator.

        Args:
            calls: jobs with their arguments: `job.bind(...)`.
            spread: over how long their starts are spread, evenly.
            options: as for `job.options(...)`.

        Returns:
            A receipt for each, in order. If the store fails, the thousands before stay put in;
            without a transaction of the caller's own there is no other way.
        """
        manner = Manner(Sending(**options), spread=read_spread(spread))
        return [each for batch in self._enqueuer.send_many(calls, manner) for each in batch]

    def transaction(self, connection: object) -> AbstractContextManager[None]:
        """Return a block that commits at its end, or rolls back if it raises, and then rings.

        What is enqueued in it commits with the caller's own rows. See `sempre.app.transactions`.
        """
        return transaction(self, connection)

    def queue_name(self, queue: str = "default") -> str:
        """Return the name that a queue of this store has on its broker; on Beanstalkd, its tube."""
        return cast("Sempre", self).engine.bell.lane(queue)

    @property
    def _enqueuer(self) -> Enqueuer:
        return Enqueuer(cast("Sempre", self))
