"""Effects: what runs really did, told by the runs themselves and not by any table.

The resource remembers the highest fence it has heard of for each thing it guards, and refuses
whoever comes with a lower one: a zombie that does not know that its work was taken over.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from sempre.domain.execution import Execution
from sempre.ports.executor import Ended, Run
from sempre.testing.simulation.stage import Broken, Program

__all__ = ["Effects", "Start", "guard_of"]

UNSUCCESSFUL = frozenset({Ended.FAILED, Ended.TIMED_OUT, Ended.CRASHED})


@dataclass(frozen=True)
class Start:
    """A run that began: which, where and when in true time."""

    execution: Execution
    program: Program
    at: int


def guard_of(execution: Execution) -> str:
    """Return what the resource guards: the schedule, or each piece of work if runs may overlap."""
    if execution.schedule_id is None or execution.snapshot.overlap == "allow":
        return execution.key
    return execution.schedule_id


class Effects:
    """The log of all runs, and a resource with a fence.

    Attributes:
        starts: every run by its fence.
        ended: how it ended, by its fence.
        claims: the execution of every claim.
        repeated: runs that were done again though they had not failed.
        exposed: runs whose worker died, was stopped or lost its lease before they were settled.
        written: what the resource took, by key.
        refused: what it refused.
    """

    def __init__(self) -> None:
        """Begin with nothing done."""
        self.starts: dict[int, Start] = {}
        self.ended: dict[int, Ended] = {}
        self.claims: dict[int, str] = {}
        self.repeated: list[int] = []
        self.exposed: set[int] = set()
        self._latest: dict[str, int] = {}
        self._open: defaultdict[str, set[int]] = defaultdict(set)
        self.written: defaultdict[str, list[int]] = defaultdict(list)
        self.refused: set[int] = set()
        self._highest: Counter[str] = Counter()

    def begin(self, run: Run, program: Program, at: int) -> None:
        """Note that a run began; it must be of a claim of its own."""
        execution = run.execution
        if execution.fence in self.starts:
            raise Broken(f"claim {execution.fence} of {execution.id} was started twice")
        if self.claims.get(execution.fence) != execution.id:
            raise Broken(f"{execution.id} was started without a claim of fence {execution.fence}")
        self.starts[execution.fence] = Start(execution, program, at)
        self._open[program.name].add(execution.fence)
        self._note_repeated(execution)
        self._present(execution)

    def end(self, run: Run, ended: Ended) -> None:
        """Note how a run ended; a success writes to the resource, if that lets it."""
        execution = run.execution
        self.ended[execution.fence] = ended
        if ended is not Ended.SUCCEEDED:
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
        """Note that what a program runs, or has not settled yet, may have to be done again."""
        self.exposed |= self._open[program.name]

    def check_repeated(self) -> None:
        """Raise if something was done again though nothing had happened to whoever did it."""
        for fence in self.repeated:
            if fence not in self.exposed:
                name = self.starts[fence].execution.snapshot.name
                raise Broken(f"claim {fence} of {name} was done again without a reason")

    def check_success(self, execution: Execution) -> None:
        """Raise unless an execution that counts as done was done, by the claim it counts for."""
        fence = execution.fence
        if self.ended.get(fence) is not Ended.SUCCEEDED:
            raise Broken(f"{execution.id} counts as done, but its run {self.ended.get(fence)}")
        if fence in self.refused:
            raise Broken(f"{execution.id} counts as done, but the resource refused fence {fence}")

    def _note_repeated(self, execution: Execution) -> None:
        before = self._latest.get(execution.id)
        if before is not None and before > execution.fence:
            # A zombie begins what others have taken over.
            self.repeated.append(execution.fence)
            return
        self._latest[execution.id] = execution.fence
        if before is not None and self.ended.get(before) not in UNSUCCESSFUL:
            self.repeated.append(before)

    def _present(self, execution: Execution) -> bool:
        guard = guard_of(execution)
        accepted = execution.fence >= self._highest[guard]
        self._highest[guard] = max(self._highest[guard], execution.fence)
        return accepted
