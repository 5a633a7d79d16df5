"""Made-up figures, as a run of the benchmark would leave them."""

from bench.measuring import Comparison, Contestant, Duel, Figure, Numbers, Role, Target
from bench.results import Measured, Results

__all__ = ["FACTS", "RUN", "comparison", "measured", "queues"]

RUN = "2026-11-16 06:00:00 UTC"
FACTS = {
    "command": "python -m bench",
    "processor": "Two cores",
    "Python": "3.11",
    "servers": "None",
}


def _run(_count: int) -> Numbers:
    return {}


def comparison(*others: str, title: str = "A title") -> Comparison:
    """Return one with these others, of which those called bare are limits."""
    figures = [Figure("enqueue", "jobs/s"), Figure("drain", "jobs/s")]
    targets = [Target("T4", "pgqueuer, default", "drain", at_least=3.0)]
    contestants = [
        Contestant(name, _run, 1, "limit" if name.startswith("bare") else "peer") for name in others
    ]
    ours = Contestant("Sempre", _run, 1)
    return Comparison(title, figures, ours, contestants, targets, "A note.")


def _numbers(rate: float) -> Numbers:
    return {"enqueue": 2 * rate, "drain": rate}


def measured(ours: float, theirs: float | None, name: str, *, run: str = RUN) -> Measured:
    """Return a pair whose rates are these; without theirs it has failed."""
    role: Role = "limit" if name.startswith("bare") else "peer"
    if theirs is None:
        return Measured(Duel(name, role, (), f"{name}: 7 of 10 jobs"), run)
    return Measured(Duel(name, role, ((_numbers(ours), _numbers(theirs)),)), run)


def queues() -> Results:
    """Return one-off jobs on PostgreSQL: a slow peer, one that failed, and the bare driver."""
    others = comparison("pgqueuer, default", "chancy & <more>", "bare psycopg")
    results = Results().with_run(RUN, FACTS)
    for name, theirs in (
        ("pgqueuer, default", 5_000.0),
        ("chancy & <more>", None),
        ("bare psycopg", 40_000.0),
    ):
        results = results.with_duel("postgresql", others, measured(20_000.0, theirs, name))
    return results
