"""Holdings: which claims this worker was handed, told apart from those whose answer was lost.

A claim whose answer never came runs, as far as the store knows, under a session that lives on and
renews its lease: nobody would ever take it back. So the worker compares what the store says it
holds with what it has in hand, and gives back the rest.
"""

from collections.abc import Iterable
from threading import Lock

from sempre.domain.execution import Execution
from sempre.engine.core import Engine
from sempre.ports.executor import Ended, Outcome, Run

__all__ = ["Holdings"]


class Holdings:
    """The claims of one worker by fence, from the start of each until it is settled.

    Attributes:
        in_doubt: whether the store may count more as ours than has come.
        highest: the highest fence that ever came.
    """

    def __init__(self, engine: Engine) -> None:
        """Hold nothing."""
        self._engine = engine
        self._fences: set[int] = set()
        self._abandoned: set[int] = set()
        self.highest = 0
        self._lock = Lock()
        self.in_doubt = False

    def take(self, executions: Iterable[Execution]) -> None:
        """Note that claims have come."""
        with self._lock:
            fences = [execution.fence for execution in executions]
            self._fences.update(fences)
            self.highest = max([self.highest, *fences])

    def let_go(self, executions: Iterable[Execution]) -> None:
        """Note that claims are settled."""
        with self._lock:
            self._fences.difference_update(execution.fence for execution in executions)

    def abandon(self, execution: Execution) -> None:
        """Note that a run is asked to end because its claim is ours no more, for all we know."""
        with self._lock:
            self._abandoned.add(execution.fence)

    def judged(self, run: Run, outcome: Outcome) -> Outcome:
        """Return the outcome of a run as it counts.

        If an abandoned run was ended, nobody wished for that, and nobody knows how far it got: its
        policy decides, as after a crash. If others have it by now, it is late anyway.
        """
        if not self._abandoned:
            return outcome
        fence = run.execution.fence
        with self._lock:
            abandoned = fence in self._abandoned
            self._abandoned.discard(fence)
        ended_by_us = abandoned and outcome.ended is Ended.CANCELLED
        return outcome._replace(ended=Ended.CRASHED) if ended_by_us else outcome

    def compare(self, held: frozenset[int]) -> None:
        """Be in doubt if the store says we hold more; it may only be on its way to us."""
        with self._lock:
            self.in_doubt = self.in_doubt or not held <= self._fences

    def unknown(self, session: str) -> list[Execution]:
        """Return what runs under our session and has never come, and count it as come.

        Ask only from the thread that claims, or an answer might just be on its way.

        Raises:
            StoreUnavailable: the doubt remains.
        """
        with self._lock:
            known = set(self._fences)
        running = self._engine.read(self._engine.store.running(session))
        self.in_doubt = False
        lost = [execution for execution in running if execution.fence not in known]
        self.take(lost)
        return lost
