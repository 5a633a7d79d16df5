"""The judge: what the effects on disk say about a fleet. It asks no store and no table of ours.

Slots are counted from the grids themselves. A slot is a target if it lies after the first start of
all, as every schedule existed by then, and no later than the instant up to which a fleet had to
be done (Jepsen's Chronos test, whose targets and runs these are).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.fleet.effects import read_log, read_resources
from tests.integration.fleet.rota import Line

__all__ = ["Finding", "judge", "recovery"]

# A start that is no later than this has not been disturbed.
ON_TIME = 1.0

Entry = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What became of the slots of a fleet.

    Attributes:
        slots: how many there were to run.
        lost: targets without a run that ended, as schedule and slot.
        early: starts before their slot, or before they were due.
        duplicated: starts beyond the first and one for each failure, by schedule.
        doubled: effects that a guarded resource took twice.
        unguarded: targets whose effect no guarded resource has.
        refused: effects that a guarded resource refused, as another run had come later.
        overlapping: schedules of which two runs went on at once, though they must not.
        incomplete: starts without an end.
        lateness: of the first start of each slot, in seconds, sorted.
    """

    slots: int
    lost: list[tuple[str, int]]
    early: list[Entry]
    duplicated: Counter[str]
    doubled: list[tuple[str, float]]
    unguarded: list[tuple[str, int]]
    refused: int
    overlapping: set[str]
    incomplete: int
    lateness: list[float]

    def at(self, share: float) -> float:
        """Return the lateness that this share of the starts does not pass; 0 without any."""
        if not self.lateness:
            return 0.0
        return self.lateness[min(len(self.lateness) - 1, int(share * len(self.lateness)))]

    @property
    def is_settled(self) -> bool:
        """Whether nothing is outstanding."""
        return not self.lost and not self.unguarded


def judge(folder: Path, lines: Sequence[Line], until: float) -> Finding:
    """Judge what a fleet has left in its folder, up to an instant."""
    entries = [each for each in read_log(folder) if _is_of(each, lines)]
    starts = [each for each in entries if each["what"] == "start"]
    ends = [each for each in entries if each["what"] != "start"]
    since = min((each["at"] for each in starts), default=until)
    targets = [(line, slot) for line in lines for slot in line.slots(since, until)]
    ended = {(each["schedule"], each["slot"]) for each in ends if each["what"] == "end"}
    wanted = [(line.name, slot) for line, slot in targets if not line.may_skip]
    applied = _applied(folder, lines)
    return Finding(
        slots=len(wanted),
        lost=[each for each in wanted if each not in ended],
        early=[each for each in starts if each["at"] < max(each["slot"], each["due"])],
        duplicated=_duplicated(starts, ends),
        doubled=[each for each, count in applied.items() if count > 1],
        unguarded=[each for each in wanted if each not in applied],
        refused=sum(each.get("fenced") == "refused" for each in ends),
        overlapping={line.name for line in lines if not line.overlaps and _meet(line, entries)},
        incomplete=len(starts) - len(ends),
        lateness=sorted(_lateness(starts)),
    )


def recovery(folder: Path, lines: Sequence[Line], calms: Sequence[tuple[float, float]]) -> float:
    """Return the longest time from the end of a fault to the last start that it disturbed.

    A calm goes from the end of a fault to the beginning of the next. Such a start was late, or was
    not the first of its slot though no failure had called for it.
    """
    disturbed = list(_disturbed([each for each in read_log(folder) if _is_of(each, lines)]))
    spans = [
        max((at - begun for at in disturbed if begun <= at < ended), default=0.0)
        for begun, ended in calms
    ]
    return max(spans, default=0.0)


def _disturbed(entries: Iterable[Entry]) -> Iterator[float]:
    called_for: Counter[tuple[str, float]] = Counter()
    for each in entries:
        key = (each["schedule"], each["slot"])
        if each["what"] == "fail":
            called_for[key] += 1
        elif each["what"] == "start":
            called_for[key] -= 1
            if called_for[key] < -1 or each["at"] - each["due"] > ON_TIME:
                yield each["at"]


def _is_of(entry: Entry, lines: Iterable[Line]) -> bool:
    return entry["schedule"] in {line.name for line in lines}


def _applied(folder: Path, lines: Sequence[Line]) -> Counter[tuple[str, float]]:
    names = {line.name for line in lines}
    resources = read_resources(folder).items()
    return Counter(
        (resource.partition("@")[0], slot)
        for resource, slots in resources
        for slot in slots
        if resource.partition("@")[0] in names
    )


def _duplicated(starts: Iterable[Entry], ends: Iterable[Entry]) -> Counter[str]:
    """Count starts beyond the first of each slot; each failure calls for one more."""
    begun = Counter((each["schedule"], each["slot"]) for each in starts)
    failed = Counter((each["schedule"], each["slot"]) for each in ends if each["what"] == "fail")
    counted: Counter[str] = Counter()
    for key, count in begun.items():
        counted[key[0]] += max(0, count - 1 - failed[key])
    return +counted


def _lateness(starts: Iterable[Entry]) -> Iterable[float]:
    """Return how late each slot first started."""
    seen = set()
    for each in starts:
        if (key := (each["schedule"], each["slot"])) not in seen:
            seen.add(key)
            yield each["at"] - each["due"]


def _meet(line: Line, entries: Iterable[Entry]) -> bool:
    """Tell whether a run began while another one of the same schedule was known to go on."""
    going: set[tuple[str, int]] = set()
    for each in entries:
        if each["schedule"] != line.name:
            continue
        key = (each["id"], each["fence"])
        if each["what"] != "start":
            going.discard(key)
        elif going:
            return True
        else:
            going.add(key)
    return False
