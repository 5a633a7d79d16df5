"""Shrinking: repeats a failure of a seed with fewer faults, within a time limit."""

from collections.abc import Sequence
from traceback import extract_tb

from sempre.clock import SystemClock
from sempre.testing.simulation.mercy import Mercy
from sempre.testing.simulation.scenes import Scene
from sempre.testing.simulation.world import Failure, simulate

__all__ = ["shrink"]

PATIENCE = 20.0


class _Shrinker:
    """Leaves out faults step by step, and keeps the smallest set that still fails."""

    def __init__(self, failure: Failure, seconds: float, scene: Scene | None) -> None:
        """Begin with the original failure."""
        self._clock = SystemClock()
        self._until = self._clock.elapsed() + seconds
        self._place = _place_of(failure)
        self._scene = scene
        self.best = failure

    @property
    def is_patient(self) -> bool:
        """Whether time is left for another run."""
        return self._clock.elapsed() < self._until

    def leave_out_kinds(self) -> None:
        """Leave out each kind of fault that the failure does not need."""
        for kind in sorted({each.kind for each in self.best.strikes}):
            without = self.best.mercy.without | {kind}
            self._fails(without, None)

    def leave_out_single_ones(self) -> None:
        """Leave out ever smaller groups of faults that the failure does not need."""
        names = [each.name for each in self.best.strikes]
        size = len(names) // 2
        while size and self.is_patient:
            kept = self._without_parts(names, size)
            size = min(size // 2, len(kept) // 2) if len(kept) < len(names) else size // 2
            names = kept

    def _without_parts(self, names: Sequence[str], size: int) -> list[str]:
        kept, first = list(names), 0
        while first < len(kept) and self.is_patient:
            fewer = kept[:first] + kept[first + size :]
            if self._fails(self.best.mercy.without, frozenset(fewer)):
                kept = [each.name for each in self.best.strikes if each.name in fewer]
            else:
                first += size
        return kept

    def _fails(self, without: frozenset[str], only: frozenset[str] | None) -> bool:
        """Return whether the same promise breaks, and keep that failure if so."""
        if not self.is_patient:
            return False
        try:
            seed, steps, mercy = self.best.seed, self.best.steps, Mercy(without, only)
            simulate(seed, steps=steps, mercy=mercy, scene=self._scene)
        except Failure as failure:
            if _place_of(failure) == self._place:
                self.best = failure
                return True
        return False


def shrink(failure: Failure, *, seconds: float = PATIENCE, scene: Scene | None = None) -> Failure:
    """Return the same failure with as few faults as shrinking finds within `seconds`."""
    shrinker = _Shrinker(failure, seconds, scene)
    shrinker.leave_out_kinds()
    shrinker.leave_out_single_ones()
    return shrinker.best


def _place_of(failure: Failure) -> tuple[str, int | None]:
    """Return file and line of the check that failed."""
    cause = failure.__cause__
    frames = extract_tb(cause.__traceback__) if cause else []
    return (frames[-1].filename, frames[-1].lineno) if frames else ("", None)
