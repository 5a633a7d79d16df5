"""Jobs: the user's functions under a name, with their signatures kept for the type checker."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from sempre.app.options import Duration
from sempre.domain.arguments import Json, check_arguments
from sempre.errors import ArgumentsError
from sempre.ports.executor import Task

__all__ = ["AsyncJob", "Call", "Job", "Receipt", "Sender", "Sending", "is_async"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Call(Generic[R]):
    """A job with its arguments, checked: what a schedule runs, or an enqueue asks for."""

    job: "Job[..., R]"
    args: Mapping[str, Json]


@dataclass(frozen=True)
class Receipt(Generic[R]):
    """What became of an enqueue.

    Attributes:
        id: of the execution; of the one that already exists, if this was a duplicate.
        created: whether a new execution came into being.
        rejected_by: the switch that refused it, or an empty text.
    """

    id: str
    created: bool = True
    rejected_by: str = ""


class Sender(Protocol):
    """What puts a call in: the application."""

    def send(
        self,
        call: Call[R],
        *,
        delay: Duration | None = None,
        at: datetime | str | None = None,
        queue: str | None = None,
        priority: int | None = None,
    ) -> Receipt[R]:
        """Put one call in as an execution of its own."""
        ...


@dataclass(frozen=True)
class Sending:
    """How a call is put in; nothing said means now, on the job's own queue."""

    delay: Duration | None = None
    at: datetime | str | None = None
    queue: str | None = None
    priority: int | None = None


class Job(Generic[P, R]):
    """A registered function. Calling it runs it here and now, as if it were not registered."""

    def __init__(self, task: Task, sender: Sender, sending: Sending | None = None) -> None:
        """Wrap a function; applications make these, see `Sempre.job`."""
        self.task = task
        self._sender = sender
        self._sending = sending or Sending()
        self._signature = _checked_signature(task)
        self.__name__ = task.function.__name__
        self.__doc__ = task.function.__doc__
        self.__wrapped__ = task.function

    @property
    def name(self) -> str:
        """The name under which it is registered."""
        return self.task.name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function in place."""
        result: R = self.task.function(*args, **kwargs)
        return result

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Return the job with its arguments.

        Raises:
            ArgumentsError: they do not fit its signature, or are no JSON.
        """
        return Call(self, self._arguments(args, kwargs))

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt[R]:
        """Put it in as a piece of work of its own, besides any schedule."""
        sending = self._sending
        return self._sender.send(Call(self, self._arguments(args, kwargs)), **vars(sending))

    def options(
        self,
        *,
        delay: Duration | None = None,
        at: datetime | str | None = None,
        queue: str | None = None,
        priority: int | None = None,
    ) -> "Job[P, R]":
        """Return the same job, whose `enqueue` goes by these options."""
        sending = Sending(delay=delay, at=at, queue=queue, priority=priority)
        return type(self)(self.task, self._sender, sending)

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Json]:
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
        return check_arguments(named)


class AsyncJob(Job[P, R]):
    """A registered `async def`. Calling it gives the coroutine, to be awaited."""

    def __call__(  # type: ignore[override]
        self, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, R]:
        """Return the coroutine of the function."""
        coroutine: Coroutine[Any, Any, R] = self.task.function(*args, **kwargs)
        return coroutine


def _checked_signature(task: Task) -> inspect.Signature:
    """Return the signature of a job, whose arguments must have names."""
    signature = inspect.signature(task.function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            allowed = "parameters that have names: arguments are stored by name"
            shown = f"{task.name}{signature}"
            raise ArgumentsError("job", shown, allowed=allowed)
    return signature


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether a function is an `async def`."""
    return inspect.iscoroutinefunction(inspect.unwrap(function))
