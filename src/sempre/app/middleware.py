"""Middleware: the user's code around every enqueue and every run, and gates before both.

Each is a generator function with one `yield`: the code before the `yield` runs before, the code
after it afterwards. An error in between is raised at the `yield`, where the function may catch it.
`Skip("reason")`, raised before the `yield`, ends a run without calling the job.

    @app.around_perform
    def timed(run: Current) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            histogram(run.job, perf_counter() - began)

The function that was declared first is the outermost. A gate returns a reason to refuse work:

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
"""Called with the calls that are enqueued together."""
AroundPerform = Callable[[Current], Iterator[None]]
"""Called with the run, in the thread, task or child process where the job is called."""
Gate = Callable[[str, Mapping[str, Json]], str | None]
"""Called with a job's name and arguments; returns a reason to refuse the work, or None."""


class Middleware:
    """The user's code around the enqueues and runs of an application."""

    def __init__(self) -> None:
        """Begin without any."""
        self._enqueues: list[Callable[..., AbstractContextManager[None]]] = []
        self._performs: list[Callable[..., AbstractContextManager[None]]] = []
        self._gates: list[Gate] = []

    def around_enqueue(self, function: AroundEnqueue) -> AroundEnqueue:
        """Put a generator function around every batch of enqueues."""
        self._enqueues.append(contextmanager(function))
        return function

    def around_perform(self, function: AroundPerform) -> AroundPerform:
        """Put a generator function around every run."""
        self._performs.append(contextmanager(function))
        return function

    def add_gate(self, gate: Gate) -> Gate:
        """Ask a function before every enqueue and every run."""
        self._gates.append(gate)
        return gate

    @contextmanager
    def enqueuing(self, calls: Sequence[Call[Any]]) -> Iterator[None]:
        """Run the middleware around the enqueue of some calls."""
        with ExitStack() as stack:
            for around in self._enqueues:
                stack.enter_context(around(calls))
            yield

    @property
    def has_gates(self) -> bool:
        """Whether there is any gate."""
        return bool(self._gates)

    def refusal(self, job: str, args: Mapping[str, Json]) -> str:
        """Return the reason of the first gate that refuses a call; empty if none does."""
        answers = (gate(job, args) for gate in self._gates)
        return next((answer for answer in answers if answer), "")

    def wrap_all(
        self, tasks: Mapping[str, Task], done: Mapping[str, Callable[..., Any]]
    ) -> dict[str, Task]:
        """Return tasks by name, each with the middleware around its function.

        Args:
            tasks: as they were registered.
            done: by job, returns from its arguments whether the work is no longer needed.
        """
        return {name: self._wrap(task, done.get(name)) for name, task in tasks.items()}

    def _wrap(self, task: Task, done: Callable[..., Any] | None) -> Task:
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
