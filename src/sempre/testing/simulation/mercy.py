"""Mercy: which faults of a run are left out, so that a failure is reported with few faults.

The random decisions of a seed stay equal; a fault that is left out does not happen. Later events
may then differ, so the caller that leaves faults out checks whether the same promise still breaks.
"""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Mercy", "Strike"]


@dataclass(frozen=True)
class Strike:
    """One fault that happened: its name, as `kill.3` for the third of its kind, and when."""

    name: str
    seconds: float

    @property
    def kind(self) -> str:
        """The kind of the fault: its name without the number."""
        return self.name.partition(".")[0]

    def __str__(self) -> str:
        """Return time and name in one line."""
        return f"{self.seconds:12.6f} {self.name}"


@dataclass
class Mercy:
    """Decides which faults happen, and lists the faults that happened.

    Attributes:
        without: kinds of faults that do not happen at all.
        only: the names of the only faults that happen; None for all faults.
        strikes: the faults that happened.
    """

    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    strikes: list[Strike] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def lets(self, kind: str, seconds: float) -> bool:
        """Return whether a drawn fault happens, and record the fault if so."""
        self._counts[kind] += 1
        name = f"{kind}.{self._counts[kind]}"
        if kind in self.without or (self.only is not None and name not in self.only):
            return False
        self.strikes.append(Strike(name, seconds))
        return True

    @property
    def options(self) -> str:
        """The command line options that leave out the same faults."""
        without = f" --without {','.join(sorted(self.without))}" if self.without else ""
        only = "" if self.only is None else f" --only {','.join(sorted(self.only)) or 'none'}"
        return without + only
