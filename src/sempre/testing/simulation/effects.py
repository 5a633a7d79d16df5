"""Effects: the log of what runs did, written by the runs and independent of every table.

The resource remembers the highest fence for each guarded key, and refuses a run with a lower fence:
a zombie that does not know that another worker has taken over its work.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from sempre.domain.execution import Execution
from sempre.ports.executor import Ended, Outcome, Run
from sempre.testing.simulation.stage import Broken, Program

__all__ = ["Effects", "Start", "guard_of"]

UNSUCCESSFUL = frozenset({Ended.FAILED, Ended.TIMED_OUT, Ended.CRASHED, Ended.RETRY_LATER})
# Ends after which only an operator lets an execution run again.
RETRIED_BY_HAND = frozenset({Ended.GAVE_UP, Ended.SKIPPED, Ended.CANCELLED})


@dataclass(frozen=True)
class Start:
    """A run that began: its execution, its program and the true time."""

    execution: Execution
    program: Program
    at: int


def guard_of(execution: Execution) -> str:
    """Return the guarded key: the schedule, or the key of the execution if runs may overlap."""
    if execution.schedule_id is None or execution.snapshot.overlap == "allow":
        return execution.key
    return execution.schedule_id


class Effects:
    """The log of all runs, and a resource with a fence.

    Attributes:
        starts: every run that began, by fence.
        ended: how each run ended, by fence.
        outcomes: what each run reported at its end, by fence.
        claims: the id of the execution of every claim, by fence.
        repeated: fences of runs that were repeated although the run had not failed.
        exposed: fences of runs whose worker died, stopped or lost its lease before the settle.
        written: fences that the resource accepted, by key.
        refused: fences that the resource refused.
    """

    def __init__(self) -> None:
        """Begin with an empty log."""
        self.starts: dict[int, Start] = {}
        self.ended: dict[int, Ended] = {}
        self.outcomes: dict[int, Outcome] = {}
        self.claims: dict[int, str] = {}
        self.repeated: list[int] = []
        self.exposed: set[int] = set()
        self._latest: dict[str, int] = {}
        self._open: defaultdict[str, set[int]] = defaultdict(set)
        self.written: defaultdict[str, list[int]] = defaultdict(list)
        self.refused: set[int] = set()
        self._highest: Counter[str] = Counter()

    def begin(self, run: Run, program: Program, at: int) -> None:
        """Note that a run began; each claim may begin one run."""
        execution = run.execution
        if execution.fence in self.starts:
            raise Broken(f"claim {execution.fence} of {execution.id} was started twice")
        if self.claims.get(execution.fence) != execution.id:
            raise Broken(f"{execution.id} was started without a claim of fence {execution.fence}")
        self.starts[execution.fence] = Start(execution, program, at)
        self._open[program.name].add(execution.fence)
        self._note_repeated(execution)
        self._present(execution)

    def end(self, run: Run, outcome: Outcome) -> None:
        """Note how a run ended; a success writes to the resource if its fence is accepted."""
        execution = run.execution
        self.ended[execution.fence] = outcome.ended
        self.outcomes[execution.fence] = outcome
        if outcome.ended is not Ended.SUCCEEDED:
            return
        if self._present(execution):
            self.written[execution.key].append(execution.fence)
        else:
            self.refused.add(execution.fence)

    def settle(self, fence: int) -> None:
        """Note that the store knows how a run ended."""
        start = self.starts.get(fence)
        if start is not None:
            self._open[start.program.name].discard(fence)

    def expose(self, program: Program) -> None:
        """Note that the running and unsettled runs of a program may be repeated."""
        self.exposed |= self._open[program.name]

    def check_repeated(self) -> None:
        """Raise if a run was repeated although neither its worker nor its lease was lost."""
        for fence in self.repeated:
            if fence not in self.exposed:
                name = self.starts[fence].execution.snapshot.name
                raise Broken(f"claim {fence} of {name} was done again without a reason")

    def check_success(self, execution: Execution) -> None:
        """Raise unless the run of an execution's final claim succeeded and was accepted."""
        fence = execution.fence
        if self.ended.get(fence) is not Ended.SUCCEEDED:
            raise Broken(f"{execution.id} counts as done, but its run {self.ended.get(fence)}")
        if fence in self.refused:
            raise Broken(f"{execution.id} counts as done, but the resource refused fence {fence}")

    def _note_repeated(self, execution: Execution) -> None:
        before = self._latest.get(execution.id)
        if before is not None and before > execution.fence:
            # A zombie begins work that another worker has taken over.
            self.repeated.append(execution.fence)
            return
        self._latest[execution.id] = execution.fence
        expected = UNSUCCESSFUL | (RETRIED_BY_HAND if execution.retried_at else set())
        if before is not None and self.ended.get(before) not in expected:
            self.repeated.append(before)

    def _present(self, execution: Execution) -> bool:
        guard = guard_of(execution)
        accepted = execution.fence >= self._highest[guard]
        self._highest[guard] = max(self._highest[guard], execution.fence)
        return accepted
