"""Mercy: which faults of a run are left out, so that a failure is reported with few faults.

The chances of a seed stay the same; a fault that is let off just does not happen. What comes after
it may then differ, so whoever leaves faults out has to look whether the same promise still breaks.
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
        """What kind of fault it was."""
        return self.name.partition(".")[0]

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.seconds:12.6f} {self.name}"


@dataclass
class Mercy:
    """Lets faults happen or not, and keeps a list of those that did.

    Attributes:
        without: kinds of faults that do not happen at all.
        only: the names of the faults that do; None for all of them.
        strikes: the faults that happened.
    """

    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    strikes: list[Strike] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def lets(self, kind: str, seconds: float) -> bool:
        """Tell whether a fault that would happen now does."""
        self._counts[kind] += 1
        name = f"{kind}.{self._counts[kind]}"
        if kind in self.without or (self.only is not None and name not in self.only):
            return False
        self.strikes.append(Strike(name, seconds))
        return True

    @property
    def options(self) -> str:
        """What a command needs to be told to leave out the same."""
        without = f" --without {','.join(sorted(self.without))}" if self.without else ""
        only = "" if self.only is None else f" --only {','.join(sorted(self.only)) or 'none'}"
        return without + only
