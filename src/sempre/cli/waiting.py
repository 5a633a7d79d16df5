"""Waiting for an execution to end, by asking the store less and less often."""

from datetime import timedelta
from threading import Event

from sempre.cli.failing import Failure
from sempre.cli.times import length
from sempre.domain.execution import Execution
from sempre.domain.states import LIVE, State
from sempre.engine.core import Engine
from sempre.errors import NotFound

__all__ = ["has_ended", "wait_until_ended"]

FIRST_REST = 0.05
LONGEST_REST = 2.0
GROWTH = 1.5


def wait_until_ended(
    engine: Engine, execution_id: str, *, timeout: timedelta | None = None
) -> Execution:
    """Return an execution once it has ended.

    Raises:
        NotFound: there is none of that id, or it was purged meanwhile.
        UnreadableRow: this process cannot read it.
        Failure: it has not ended in time; it goes on.
    """
    began, rest, never = engine.clock.elapsed(), FIRST_REST, Event()
    while True:
        found = engine.read_one(engine.store.candidates([execution_id]))
        if found is None:
            raise NotFound("execution", execution_id)
        if has_ended(found.execution):
            return found.execution
        waited = engine.clock.elapsed() - began
        if timeout is not None and waited >= timeout.total_seconds():
            message = f"{execution_id} has not ended after {length(timeout)}; it goes on."
            raise Failure(message, advice=f"sempre execution {execution_id}")
        left = LONGEST_REST if timeout is None else timeout.total_seconds() - waited
        # An event that nobody sets is a rest that Ctrl-C can cut short.
        never.wait(min(rest, max(0.0, left)))
        rest = min(LONGEST_REST, rest * GROWTH)


def has_ended(row: Execution) -> bool:
    """Tell whether nothing more will become of an execution."""
    return row.state not in LIVE and row.state is not State.RUNNING
