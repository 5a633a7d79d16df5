"""Claims in hand: the claims that this worker was given, as opposed to those it does not know of.

A claim whose answer was lost runs, as far as the store knows, under a session that lives on and
renews its lease: no other worker would ever rescue the execution. So the worker compares the claims
that the store counts for its session with those it has in hand, and gives back the rest.
"""

from collections.abc import Iterable
from threading import Lock

from sempre.domain.execution import Execution
from sempre.engine.core import Engine
from sempre.ports.executor import Ended, Outcome, Run

__all__ = ["ClaimsInHand"]


class ClaimsInHand:
    """The claims of one worker by fence, from the start of each until it is settled.

    Attributes:
        in_doubt: whether the store may count claims for this session that are not in hand.
        highest: the highest fence that was ever in hand.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin without a claim."""
        self._engine = engine
        self._fences: set[int] = set()
        self._abandoned: set[int] = set()
        self.highest = 0
        self._lock = Lock()
        self.in_doubt = False

    @property
    def is_empty(self) -> bool:
        """Whether every claim is settled: nothing runs, and no end waits to be recorded."""
        return not self._fences

    def add(self, executions: Iterable[Execution]) -> None:
        """Note claims whose answer has come."""
        with self._lock:
            fences = [execution.fence for execution in executions]
            self._fences.update(fences)
            self.highest = max([self.highest, *fences])

    def remove(self, executions: Iterable[Execution]) -> None:
        """Note claims that are settled."""
        with self._lock:
            self._fences.difference_update(execution.fence for execution in executions)

    def abandon(self, execution: Execution) -> None:
        """Note that a run is cancelled because its claim seems to belong to this worker no more."""
        with self._lock:
            self._abandoned.add(execution.fence)

    def correct(self, run: Run, outcome: Outcome) -> Outcome:
        """Return the outcome of a run as it counts: an abandoned run was not cancelled on request.

        How far an abandoned run got is unknown: its policy decides, as after a crash. If another
        worker has the execution by now, the outcome is late anyway.
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
        """Be in doubt if the store counts more claims; their answer may only be on its way."""
        with self._lock:
            self.in_doubt = self.in_doubt or not held <= self._fences

    def add_lost(self, session: str) -> list[Execution]:
        """Add claims of our session whose answer was lost, and return them.

        Call only from the thread that claims: an answer might just be on its way.

        Raises:
            StoreUnavailable: the doubt remains.
        """
        with self._lock:
            known = set(self._fences)
        running = self._engine.read(self._engine.store.running(session))
        self.in_doubt = False
        lost = [execution for execution in running if execution.fence not in known]
        self.add(lost)
        return lost
