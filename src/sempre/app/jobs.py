"""Jobs: the user's functions under a name, with their signatures kept for the type checker."""

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack, overload

from sempre.app.enqueue.receipt import Receipt
from sempre.app.options import CronPairOptions, EnqueueOptions, EveryPairOptions
from sempre.domain.arguments import Json, check_arguments
from sempre.domain.limits import Limit
from sempre.domain.redaction import redacted
from sempre.domain.unique import Unique
from sempre.errors import ArgumentsError, InvalidInput, PolicyError, nearest
from sempre.ports.executor import Task

if TYPE_CHECKING:
    from sempre.app.enqueue.enqueuer import Enqueuer
    from sempre.app.registry import Registry

__all__ = ["AsyncJob", "Call", "Job", "check_limits", "check_unique", "is_async"]

P = ParamSpec("P")
R = TypeVar("R")
Q = TypeVar("Q", bound=Callable[..., object])


@dataclass(frozen=True)
class Call(Generic[R]):
    """A job with its checked arguments, for a schedule or an enqueue."""

    job: "Job[..., R]"
    args: dict[str, Json]

    def __repr__(self) -> str:
        """Show the job and its arguments, with secrets masked."""
        return f"<Call of {self.job.name} with {redacted(self.args, self.job.task.redact)!r}>"


class Job(Generic[P, R]):
    """A registered function. Calling it runs it here and now, as if it were not registered."""

    def __init__(self, task: Task, registry: "Registry", enqueuer: "Enqueuer") -> None:
        """Wrap a function; applications make these, see `Sempre.job`."""
        self.task = task
        self._registry = registry
        self._enqueuer = enqueuer
        self._signature = _checked_signature(task)
        self._defaults = _stored_defaults(self._signature)
        self._plain = _plain_parameters(self._signature)
        self._needs_nothing = not any(map(_is_needed, self._signature.parameters.values()))
        self.__name__ = task.function.__name__
        self.__doc__ = task.function.__doc__
        self.__wrapped__ = task.function

    @property
    def name(self) -> str:
        """The name under which the job is registered."""
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
            ArgumentsError: the arguments do not fit the signature, or are not JSON.
        """
        return self.called(args, kwargs)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt[R]:
        """Enqueue one execution of the job, besides those of its schedules.

        A duplicate of unique work, or work that a switch rejects, is a receipt and no error.

        Raises:
            ArgumentsError: the arguments do not fit the signature, or are not JSON.
            StoreUnavailable: whether the execution was written is unknown.
            TransactionError: the execution cannot join the transaction of `options(tx=...)`.
        """
        return self._enqueuer.enqueue(self.called(args, kwargs))

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt[R]:
        """Do as `enqueue` does without blocking the event loop.

        Within a transaction of the caller it does block: a connection stays in its thread.
        """
        call = self.called(args, kwargs)
        if self._enqueuer.joins_transaction:
            return self._enqueuer.enqueue(call)
        import asyncio  # noqa: PLC0415 - most programs that import Sempre have no loop

        return await asyncio.to_thread(self._enqueuer.enqueue, call)

    def options(self, **options: Unpack[EnqueueOptions]) -> "Job[P, R]":
        """Return the same job, whose `enqueue` goes by these options."""
        chosen = copy(self)
        chosen._enqueuer = self._enqueuer.with_options(options)  # noqa: SLF001 - of its own class
        return chosen

    @overload
    def pair(self, **options: Unpack[EveryPairOptions]) -> Callable[[Q], Q]: ...
    @overload
    def pair(self, **options: Unpack[CronPairOptions]) -> Callable[[Q], Q]: ...
    def pair(self, **options: Any) -> Callable[[Q], Q]:
        """Declare the query that derives from your tables which runs of this job should exist.

            @create_database.pair(every="1m")
            def pending_databases():
                return connection.execute("SELECT id FROM databases WHERE state = 'pending'")

        Workers run the query on a schedule `pair:<job>`, by an interval or a cron text
        (`cron="*/5 9-17 * * *", timezone="Europe/Rome"`), and enqueue what is missing: unique, in
        bulk, in bounded memory. The query returns or yields calls, tuples, mappings or single
        values; or returns a cursor, a select of SQLAlchemy, a queryset of Django or SQL text.

        Do not use a pair for work that cannot be derived from state (an e-mail that no row asks
        for), for a job that is not idempotent, or if its state is spread over several databases.
        docs/how-to/pairs.md says more.
        """

        def declare(query: Q) -> Q:
            self._registry.add_pair(self, query, options)
            return query

        return declare

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call[R]:
        """Do as `bind` does, for arguments that no type checker has checked."""
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
        """Return arguments with the defaults of those that were left out."""
        return {**self._defaults, **args} if self._defaults else args

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(self._signature.parameters)

    def takes(self, name: str) -> bool:
        """Return whether the job takes an argument of this name."""
        parameters = self._signature.parameters.values()
        return any(each.name == name or each.kind is each.VAR_KEYWORD for each in parameters)


class AsyncJob(Job[P, R]):
    """A registered `async def`. Calling it returns the coroutine, to be awaited."""

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
    """Return the signature of a job; refuse parameters without names."""
    signature = inspect.signature(task.function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            allowed = "parameters that have names: arguments are stored by name"
            shown = f"{task.name}{signature}"
            raise ArgumentsError("job", shown, allowed=allowed)
    return signature


def _plain_parameters(signature: inspect.Signature) -> tuple[str, ...] | None:
    """Return the parameters, if all can be given by position and by name; else None."""
    parameters = signature.parameters.values()
    plain = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
    return tuple(signature.parameters) if plain else None


def _stored_defaults(signature: inspect.Signature) -> dict[str, Json]:
    """Return the defaults of a signature that are valid arguments."""
    defaults: dict[str, Json] = {}
    for parameter in signature.parameters.values():
        if parameter.default is not parameter.empty:
            try:
                defaults |= check_arguments({parameter.name: parameter.default})
            except InvalidInput:
                continue
    return defaults


def check_unique(job: Job[..., Any], unique: Unique | None) -> None:
    """Refuse uniqueness by arguments that a job does not take."""
    for name in unique.by if unique else ():
        if not job.takes(name):
            hint = nearest(name, job.parameters)
            raise PolicyError("unique", name, allowed=f"an argument of {job.name}", hint=hint)


def check_limits(job: Job[..., Any], limits: Iterable[Limit]) -> None:
    """Refuse limits by arguments that a job does not take."""
    for name in sorted({name for limit in limits for name in limit.key}):
        if not job.takes(name):
            hint = nearest(name, job.parameters)
            raise PolicyError("limit", name, allowed=f"an argument of {job.name}", hint=hint)


def is_async(function: Callable[..., object]) -> bool:
    """Return whether a function is an `async def`."""
    return inspect.iscoroutinefunction(inspect.unwrap(function))
