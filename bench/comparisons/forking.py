"""A child process for each run, one at a time."""

from functools import partial

from bench.comparisons.queues import redis_contestant
from bench.driving import Driver
from bench.measuring import Comparison, Contestant, Figure, Numbers, Target
from bench.servers import Place

__all__ = ["forking"]

FIGURES = (Figure("runs", "runs/s"),)


def forking(place: Place) -> Comparison:
    """The process executor beside a bare fork, and beside RQ with its queue."""
    worker = redis_contestant(place, "RQ, forking worker", "rq", count=200, forks=True)

    def rq(count: int) -> Numbers:
        return {"runs": worker.run(count)["drain"]}

    ours = Contestant("Sempre, process executor", partial(_forked, place, "ours"), 400)
    others = [
        Contestant(worker.name, rq, worker.count, quick=False),
        Contestant("bare fork and wait", partial(_forked, place, "limit"), 400, "limit"),
    ]
    targets = (Target("T13", "bare fork and wait", "runs", 0.8),)
    note = "Of ours only the executor; RQ's has its queue on Redis in it."
    return Comparison("A forked child for each run", FIGURES, ours, others, targets, note, rounds=5)


def _forked(place: Place, verb: str, count: int) -> Numbers:
    driver = Driver("ours", "forking", {}, place.fresh_folder())
    return {"runs": count / driver.call(verb, str(count))["seconds"]}
