"""What a healthy pass, an idle worker, and all being due at once cost at 1k to 1M schedules.

Ours beside ours: a thousand schedules on the one side, more on the other. A ratio of 3 says that
with so many more it costs three times as much.
"""

from dataclasses import asdict
from datetime import timedelta
from functools import partial
from time import perf_counter

import psycopg

from bench.comparisons.recurring import BURST, IDLE, OURS, measure_burst, measure_idle
from bench.counting import work_done
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target, check_count
from bench.servers import Place
from sempre import Cron, Sempre
from sempre.engine.pass_report import PassReport

__all__ = ["bursting", "idling", "passes"]

SIZES = {1_000: True, 10_000: True, 100_000: True, 1_000_000: False}
FIGURES = (
    Figure("time", "s", is_rate=False),
    Figure("statements", "", is_rate=False),
    Figure("rows", "", is_rate=False),
    Figure("buffers", "", is_rate=False),
)
MOST = 3.0


def passes(place: Place) -> Comparison:
    """One pass in which nothing is wrong, as one of the 288 of a day."""
    known: dict[int, str] = {}
    first, *others = _sizes(partial(_healthy_pass, place, known))
    targets = [Target("T9", other.name, "time", at_most=MOST) for other in others]
    note = "A pass looks at what is wrong, and at so many schedules that each has its turn daily."
    title = "A healthy pass, by the number of schedules"
    return Comparison(title, FIGURES, first, others, targets, note)


def idling(place: Place) -> Comparison:
    """A worker with nothing due."""
    first, *others = _sizes(partial(measure_idle, place, OURS))
    targets = [
        Target("T9", other.name, figure, at_most=limit)
        for other in others
        for figure, limit in (("memory", 1.2), ("statements", 1.2))
    ]
    note = "Of registering a ratio is a loss of speed, of the rest a growth of cost."
    title = "An idle worker, by the number of schedules"
    return Comparison(title, IDLE, first, others, targets, note, rounds=1)


def bursting(place: Place) -> Comparison:
    """All schedules due in one second."""
    first, *others = _sizes(partial(measure_burst, place, OURS))
    note = "Of registering a ratio is a loss of speed, of the rest how much later they start."
    title = "All due in one second, by the number of schedules"
    return Comparison(title, BURST, first, others, note=note, rounds=1)


def _sizes(run: "partial[Numbers]") -> list[Contestant]:
    return [Contestant(f"{size:,}", run, size, quick=quick) for size, quick in SIZES.items()]


def _healthy_pass(place: Place, known: dict[int, str], count: int) -> Numbers:
    if count not in known:
        known[count] = _registered(place, count)
    app = Sempre(known[count])
    try:
        _make_due(app, known[count], count)
        return _measured(app, known[count])
    finally:
        app.close()


def _measured(app: Sempre, url: str) -> Numbers:
    before, begin = work_done(url), perf_counter()
    report = app.watchdog.perform()
    seconds, done = perf_counter() - begin, work_done(url).since(before)
    if not report.lock_acquired or report.schedules_failed or report.executions_created:
        raise Failed(f"not a healthy pass: {report.facts}")
    return {
        "time": seconds,
        "statements": done.statements,
        "rows": done.rows,
        "buffers": done.buffers,
    }


def _registered(place: Place, count: int) -> str:
    """Return the URL of a database with so many schedules, kept for the next round."""
    url = place.fresh_database(keep=True)
    app = Sempre(url)

    @app.job
    def noop() -> None: ...

    grid = Cron("0 3 1 1 *")
    created = app.create_schedules((f"s{number}", grid, noop) for number in range(count))
    check_count(sum(created), count, "schedules")
    app.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return url


def _make_due(app: Sempre, url: str, count: int) -> None:
    """Let a pass be due that goes on as one does that has been all round once."""
    _make_pass_due(url)
    store = app.engine.store
    begun = store.begin_pass(holder="bench", every=timedelta(seconds=300))
    if begun is None:
        raise Failed("no pass is due")
    store.finish_pass(holder="bench", report=asdict(PassReport(last_round=count)))
    _make_pass_due(url)


def _make_pass_due(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE sempre.sempre_passes SET due_at = 0")
