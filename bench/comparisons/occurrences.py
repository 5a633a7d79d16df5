"""The next occurrence of a cron rule, in nanoseconds; the cases and walks are those of bench/grids.

Before anything is timed the instants are compared: a peer may differ where clocks change, which is
policy, and nowhere else.
"""

from functools import partial

from bench import grids
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target
from bench.servers import Place

__all__ = ["occurrences"]

WHOLE = 1000
FIGURES = tuple(Figure(case.name, "ns", is_rate=False) for case in grids.CASES)


def occurrences(_place: Place) -> Comparison:
    """Ours by `after(t)`, peers by whatever suits them best."""
    ours = Contestant("Sempre", partial(_run, "ours"), WHOLE)
    names = {"cronsim": True, "croniter": True, "APScheduler": False, "rrule": False}
    others = [
        Contestant(name, partial(_run, name), WHOLE, quick=quick) for name, quick in names.items()
    ]
    targets = [Target("T1", "cronsim", figure.name, grids.FASTER) for figure in FIGURES]
    rules = "; ".join(f"{case.name}: `{case.text}` {case.timezone}" for case in grids.CASES)
    title = "Next occurrence of a cron rule"
    return Comparison(title, FIGURES, ours, others, targets, f"{rules}.", rounds=7)


def _run(name: str, count: int) -> Numbers:
    return {case.name: _nanoseconds(name, case, count) for case in grids.CASES}


def _nanoseconds(name: str, case: grids.Case, count: int) -> float:
    walk = grids.sempre_after if name == "ours" else grids.WALKS[name]
    steps = max(20, case.count * count // WHOLE)
    ours, theirs = grids.sempre_after(case)(steps), walk(case)(steps)
    if "ANOTHER" in (told := grids.agreement(ours, theirs, case.timezone)):
        raise Failed(f"{case.text}: {told}")
    return grids.stopwatch(walk, case, steps)()
