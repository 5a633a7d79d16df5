"""Middleware: the user's code around every enqueue and every run, and gates before both.

Each is a generator function with one `yield`: what stands before it happens before, what stands
after it afterwards, and what is raised in between is raised there. It may catch it, and it may
raise instead: `Skip("reason")` before the `yield` ends a run without calling the job.

    @app.around_perform
    def timed(run: Current) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            histogram(run.job, perf_counter() - began)

Those that were declared first are the outermost. A gate is asked for a reason to refuse work:

    @app.gate
    def flags(job: str, args: Mapping[str, Json]) -> str | None:
        return None if flipper.enabled(job) else "the flag is off"
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

from sempre.app.jobs import Call, is_async
from sempre.domain.arguments import Json
from sempre.domain.states import Kind
from sempre.errors import Skip
from sempre.executors.current import Current, current
from sempre.ports.executor import Task

__all__ = ["AroundEnqueue", "AroundPerform", "Gate", "Middleware"]

AroundEnqueue = Callable[[Sequence[Call[Any]]], Iterator[None]]
"""Called with the calls that are put in together."""
AroundPerform = Callable[[Current], Iterator[None]]
"""Called with the run, in the thread, task or child process where the job is called."""
Gate = Callable[[str, Mapping[str, Json]], str | None]
"""Called with a job's name and arguments; returns why it must not be put in or run, or None."""


class Middleware:
    """What an application does around enqueue and perform."""

    def __init__(self) -> None:
        """Begin with nothing around them."""
        self._enqueues: list[Callable[..., AbstractContextManager[None]]] = []
        self._performs: list[Callable[..., AbstractContextManager[None]]] = []
        self._gates: list[Gate] = []

    def around_enqueue(self, function: AroundEnqueue) -> None:
        """Put a generator function around every batch of enqueues."""
        self._enqueues.append(contextmanager(function))

    def around_perform(self, function: AroundPerform) -> None:
        """Put a generator function around every run."""
        self._performs.append(contextmanager(function))

    def add_gate(self, gate: Gate) -> None:
        """Ask a function before every enqueue and every run."""
        self._gates.append(gate)

    @contextmanager
    def enqueuing(self, calls: Sequence[Call[Any]]) -> Iterator[None]:
        """Be around the enqueue of some calls."""
        with ExitStack() as stack:
            for around in self._enqueues:
                stack.enter_context(around(calls))
            yield

    @property
    def has_gates(self) -> bool:
        """Whether anybody is asked at all."""
        return bool(self._gates)

    def refusal(self, job: str, args: Mapping[str, Json]) -> str:
        """Return why a gate refuses a call; an empty text if none does."""
        answers = (gate(job, args) for gate in self._gates)
        return next((answer for answer in answers if answer), "")

    def wrapped(self, task: Task, done: Callable[..., Any] | None = None) -> Task:
        """Return a task whose function has everything around it.

        Args:
            task: as it was registered.
            done: tells from the arguments of the job whether its work is no longer needed.
        """
        if not self._performs and not self._gates and done is None:
            return task
        call = task.function

        def around(stack: ExitStack, args: Mapping[str, Json]) -> None:
            run = current()
            for each in self._performs:
                stack.enter_context(each(run))
            if run.kind is not Kind.MANUAL and (reason := self.refusal(task.name, args)):
                raise Skip(reason)
            if done is not None and done(**args):
                raise Skip("no longer needed")

        @wraps(call)
        def run_here(**args: Json) -> object:
            with ExitStack() as stack:
                around(stack, args)
                return call(**args)

        @wraps(call)
        async def run_async(**args: Json) -> object:
            with ExitStack() as stack:
                around(stack, args)
                return await call(**args)

        return replace(task, function=run_async if is_async(call) else run_here)
