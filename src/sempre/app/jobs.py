"""Jobs: the user's functions under a name, with their signatures kept for the type checker."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from sempre.app.options import (
    CronPairOptions,
    EveryPairOptions,
    PairOptions,
    Sending,
    SendOptions,
)
from sempre.app.receipts import Receipt
from sempre.domain.arguments import Json, check_arguments
from sempre.domain.redaction import redacted
from sempre.domain.unique import Unique
from sempre.errors import ArgumentsError, InvalidInput, PolicyError, nearest
from sempre.ports.executor import Task

__all__ = ["AsyncJob", "Call", "Job", "Sender", "check_unique", "is_async"]

P = ParamSpec("P")
R = TypeVar("R")
Q = TypeVar("Q", bound=Callable[..., object])


@dataclass(frozen=True)
class Call(Generic[R]):
    """A job with its arguments, checked: what a schedule runs, or an enqueue asks for."""

    job: "Job[..., R]"
    args: dict[str, Json]

    def __repr__(self) -> str:
        """Show the job and its arguments, without secrets."""
        return f"<Call of {self.job.name} with {redacted(self.args, self.job.task.redact)!r}>"


class Sender(Protocol):
    """What puts a call in: the application."""

    def send(self, call: Call[R], sending: Sending) -> Receipt[R]:
        """Put one call in as an execution of its own."""
        ...

    def joins(self, sending: Sending) -> bool:
        """Tell whether a call would become part of a transaction of the caller's own."""
        ...

    def pair(
        self, job: "Job[..., Any]", query: Callable[..., object], options: PairOptions
    ) -> None:
        """Declare the query that derives which runs of a job should exist."""
        ...


class Job(Generic[P, R]):
    """A registered function. Calling it runs it here and now, as if it were not registered."""

    def __init__(self, task: Task, sender: Sender, sending: Sending | None = None) -> None:
        """Wrap a function; applications make these, see `Sempre.job`."""
        self.task = task
        self._sender = sender
        self._sending = sending or Sending()
        self._signature = _checked_signature(task)
        self._defaults = _stored_defaults(self._signature)
        self._plain = _plain_parameters(self._signature)
        self._needs_nothing = not any(map(_is_needed, self._signature.parameters.values()))
        self.__name__ = task.function.__name__
        self.__doc__ = task.function.__doc__
        self.__wrapped__ = task.function

    @property
    def name(self) -> str:
        """The name under which it is registered."""
        return self.task.name

    def __repr__(self) -> str:
        """Show the name and the signature."""
        return f"<{type(self).__name__} {self.name}{self._signature}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function in place."""
        result: R = self.task.function(*args, **kwargs)
        return result

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Return the job with its arguments.

        Raises:
            ArgumentsError: they do not fit its signature, or are no JSON.
        """
        return self.called(args, kwargs)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt[R]:
        """Put it in as a piece of work of its own, besides any schedule.

        A duplicate of unique work, or work that a switch rejects, is a receipt and no error.

        Raises:
            ArgumentsError: the arguments do not fit its signature, or are no JSON.
            StoreUnavailable: nobody knows whether it was put in.
            TransactionError: it cannot be part of the transaction given by `options(tx=...)`.
        """
        return self._sender.send(self.called(args, kwargs), self._sending)

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt[R]:
        """Do as `enqueue` does without blocking the event loop.

        Within a transaction of the caller's own it does block: a connection stays in its thread.
        """
        call = self.called(args, kwargs)
        if self._sender.joins(self._sending):
            return self._sender.send(call, self._sending)
        import asyncio  # noqa: PLC0415 - most programs that import us have no loop

        return await asyncio.to_thread(self._sender.send, call, self._sending)

    def options(self, **options: Unpack[SendOptions]) -> "Job[P, R]":
        """Return the same job, whose `enqueue` goes by these options."""
        return type(self)(self.task, self._sender, Sending(**options))

    @overload
    def pair(self, **options: Unpack[EveryPairOptions]) -> Callable[[Q], Q]: ...
    @overload
    def pair(self, **options: Unpack[CronPairOptions]) -> Callable[[Q], Q]: ...
    def pair(self, **options: Any) -> Callable[[Q], Q]:
        """Declare the query that derives from your tables which runs of this job should exist.

            @create_database.pair(every="1m")
            def pending_databases():
                return connection.execute("SELECT id FROM databases WHERE state = 'pending'")

        It is run by workers on a schedule `pair:<job>`, every so often or on a cron
        (`cron="*/5 9-17 * * *", timezone="Europe/Rome"`), and puts in what is missing: unique, in
        bulk, in bounded memory. It may return or yield calls, tuples, mappings or single values;
        a cursor, a select of SQLAlchemy, a queryset of Django; or the text of an SQL query.

        Do not use a pair for work that cannot be derived from state (an e-mail that no row asks
        for), for a job that is not idempotent, or if its state is spread over several databases.
        docs/how-to/pairs.md says more.
        """

        def declare(query: Q) -> Q:
            self._sender.pair(self, query, cast("PairOptions", options))
            return query

        return declare

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call[R]:
        """Do as `bind` does for arguments that no type checker has seen."""
        if not args and not kwargs and self._needs_nothing:
            return Call(self, {})
        if self._plain is not None and not kwargs and len(args) == len(self._plain):
            return Call(self, check_arguments(dict(zip(self._plain, args, strict=True))))
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            given = (*args, *kwargs.items())
            allowed = f"{self.name}{self._signature}"
            raise ArgumentsError("args", given, allowed=allowed, hint=f"({error})") from None
        named = dict(bound.arguments)
        for parameter in self._signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                named |= named.pop(parameter.name, {})
        return Call(self, check_arguments(named))

    def complete(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return arguments together with the defaults of those that were left out."""
        return {**self._defaults, **args} if self._defaults else args

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, in order."""
        return tuple(self._signature.parameters)

    def takes(self, name: str) -> bool:
        """Tell whether it can be called with an argument of this name."""
        parameters = self._signature.parameters.values()
        return any(each.name == name or each.kind is each.VAR_KEYWORD for each in parameters)


class AsyncJob(Job[P, R]):
    """A registered `async def`. Calling it gives the coroutine, to be awaited."""

    def __call__(  # type: ignore[override]
        self, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, R]:
        """Return the coroutine of the function."""
        coroutine: Coroutine[Any, Any, R] = self.task.function(*args, **kwargs)
        return coroutine


def _is_needed(parameter: inspect.Parameter) -> bool:
    optional = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not optional


def _checked_signature(task: Task) -> inspect.Signature:
    """Return the signature of a job, whose arguments must have names."""
    signature = inspect.signature(task.function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            allowed = "parameters that have names: arguments are stored by name"
            shown = f"{task.name}{signature}"
            raise ArgumentsError("job", shown, allowed=allowed)
    return signature


def _plain_parameters(signature: inspect.Signature) -> tuple[str, ...] | None:
    """Return the parameters by whose places alone a call can be read; None if it takes more."""
    parameters = signature.parameters.values()
    plain = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
    return tuple(signature.parameters) if plain else None


def _stored_defaults(signature: inspect.Signature) -> dict[str, Json]:
    """Return the defaults of a signature that could have been given as arguments."""
    defaults: dict[str, Json] = {}
    for parameter in signature.parameters.values():
        if parameter.default is not parameter.empty:
            try:
                defaults |= check_arguments({parameter.name: parameter.default})
            except InvalidInput:
                continue
    return defaults


def check_unique(job: Job[..., Any], unique: Unique | None) -> None:
    """Refuse to go by arguments that a job does not take."""
    for name in unique.by if unique else ():
        if not job.takes(name):
            hint = nearest(name, job.parameters)
            raise PolicyError("unique", name, allowed=f"an argument of {job.name}", hint=hint)


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether a function is an `async def`."""
    return inspect.iscoroutinefunction(inspect.unwrap(function))
