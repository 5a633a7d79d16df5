"""What the results say in words: the table of targets, and the paragraph of the README.

All of it is drawn from the data and stands between two marks, so that it cannot grow old.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill

from bench.charts import headings
from bench.measuring import Target, ratio
from bench.reporting import NOTHING, best, grid, measured, shown
from bench.results import Result, Results

__all__ = ["PERFORMANCE", "README", "filled"]

README, PERFORMANCE = "README.md", "docs/performance.md"
WIDTH = 100
END = "<!-- end of bench -->"
# What each target asks for, in words; its numbers are in the comparisons.
TARGETS = {
    "T1": ("next cron occurrence", "5 times as fast as cronsim, in each case"),
    "T2": ("next anchor point, anchor of 1900", "3 us, and 1.2 times one of yesterday"),
    "T3": ("enqueue in bulk, PostgreSQL", "1.2 times pgqueuer"),
    "T4": (
        "drain, PostgreSQL, by one and by two",
        "1.2 times pgqueuer at its best batch, 3 times its default, 0.6 of the bare driver",
    ),
    "T5": ("drain, Redis or Beanstalkd as broker", "twice the best peer on Redis"),
    "T6": ("drain, SQLite, waiting for the disk", "twice huey, which does not wait"),
    "T7": (
        "10,000 schedules due in one second: p99 of lateness",
        "a tenth of the best durable peer, and no worse than APScheduler 3 in memory",
    ),
    "T8": ("register 10,000 and 100,000 schedules", "1.5 times the best durable peer"),
    "T9": (
        "a healthy pass, and an idle worker, at 1,000 to 1,000,000 schedules",
        "at most 3 times the time, and memory that stays flat and below 120 MB",
    ),
    "T10": ("100,000 executions rung again", "half of the bare rate of puts"),
    "T11": ("idle worker", "at most 10 statements and 0.1 s of CPU a minute"),
    "T12": ("start-up", "import within 60 ms of bare Python; --help no slower than any peer"),
    "T13": ("a forked child for each run", "0.8 of a bare fork and wait"),
    "T14": (
        "from an enqueue to the start in another, idle process, without a broker: p50 and p99",
        "no later than the best durable peer; on MariaDB p99 within 300 ms",
    ),
}


@dataclass(frozen=True)
class Found:
    """A target with what was measured."""

    target: Target
    title: str
    value: float


def filled(name: str, text: str, results: Results) -> str:
    """Return a page with everything between its marks written anew.

    Raises:
        ValueError: the page lacks a mark.
    """
    for block, content in _blocks(name, results).items():
        before, found, rest = text.partition(f"<!-- bench: {block} -->\n")
        _, ended, after = rest.partition(END)
        if not found or not ended:
            raise ValueError(f"{name} has no place for {block}")
        text = f"{before}{found}{content}\n{END}{after}"
    return text


def _blocks(name: str, results: Results) -> dict[str, str]:
    if name == README:
        return {"summary": summary(results)}
    return {"plots": plots(results), "targets": targets(results), "machine": machines(results)}


def plots(results: Results) -> str:
    """Return the pictures, each with a title for those who do not see it."""
    shown_ones = headings(results).items()
    lines = [f"![{title}](performance/{file})" for file, title in shown_ones]
    return "\n\n".join(lines) or NOTHING


def machines(results: Results) -> str:
    """Return the runs that the figures come from."""
    lines = [
        f"- {date}: `{facts['command']}`, {facts['processor']}, Python {facts['Python']},"
        f" {facts['servers']}"
        for date, facts in results.runs.items()
    ]
    return "\n".join(lines) or NOTHING


def targets(results: Results) -> str:
    """Return the table of targets, each with its worst measurement and whether all are met."""
    rows = [["", "what", "wanted", "measured, at the worst", "met"]]
    for name, (what, wanted) in TARGETS.items():
        found = list(_found(results, name))
        rows.append([name, what, wanted, _worst(found), _met(found)])
    return grid(rows).replace("---:", "---")


def _found(results: Results, name: str) -> Iterator[Found]:
    for result in results.comparisons.values():
        for target in result.targets:
            if target.name == name and (value := measured(result, target)) is not None:
                yield Found(target, result.title, value)


def _worst(found: list[Found]) -> str:
    if not found:
        return "-"
    worst = min(found, key=lambda each: each.target.margin(each.value))
    unit = f"x {worst.target.contestant}" if worst.target.contestant else ""
    of_all = f", of {len(found)} measured" if len(found) > 1 else ""
    return f"{shown(worst.value)}{unit} ({worst.target.figure}; {worst.title}){of_all}"


def _met(found: list[Found]) -> str:
    if not found:
        return "not measured"
    missed = sum(not each.target.is_met_by(each.value) for each in found)
    return f"**no**, {missed} of {len(found)}" if missed else "yes"


def summary(results: Results) -> str:
    """Return the paragraph of the README."""
    told = list(_sentences(results))
    if not told:
        return NOTHING
    states = [_met(list(_found(results, name))) for name in TARGETS]
    met, known = states.count("yes"), sum(state != "not measured" for state in states)
    told.append(
        f"{met} of the {known} targets that were measured are met"
        " ([what was measured, and how](docs/performance.md))."
    )
    return fill(" ".join(told), WIDTH, break_long_words=False, break_on_hyphens=False)


def _sentences(results: Results) -> Iterator[str]:
    known = results.comparisons
    for name, told in SENTENCES.items():
        result = known.get(name)
        if result is not None and result.own_rounds and (sentence := told(result)):
            yield sentence


def _own(result: Result, figure: str) -> str:
    found = best(result.own_rounds, result.figure(figure))
    return "?" if found is None else shown(found)


def _times(result: Result, contestant: str, figure: str) -> str:
    """Return how many times better ours is than a contestant; empty if it was not measured."""
    for duel in result.duels:
        if duel.name == contestant and (found := ratio(duel, result.figure(figure))):
            return shown(found.best)
    return ""


def _drained(result: Result) -> str:
    told = (
        f"On PostgreSQL one worker does {_own(result, 'drain')} one-off jobs a second, each a row"
    )
    told += (
        f" that is on disk before it counts, and {_own(result, 'enqueue')} a second are taken in"
    )
    beside = {
        "pgqueuer, batch 1000": "{} times what pgqueuer drains at its best",
        "pgqueuer, default": "{} times its default",
        "bare psycopg": "{} of what the bare driver can do",
    }
    ratios = [
        phrase.format(times)
        for name, phrase in beside.items()
        if (times := _times(result, name, "drain"))
    ]
    return f"{told}: {', '.join(ratios)}." if ratios else f"{told}."


def _brokered(result: Result) -> str:
    times = _times(result, "huey", "drain")
    return f"With Redis as the bell it drains {times} times as fast as huey." if times else ""


def _filed(result: Result) -> str:
    times = _times(result, "huey, no fsync", "drain")
    told = f"On SQLite, waiting for the disk, it drains {_own(result, 'drain')} a second"
    return f"{told}, {times} times as fast as huey, which does not wait." if times else f"{told}."


def _late(result: Result) -> str:
    told = f"Of {result.title} 99 % have started after {_own(result, 'p99')} s"
    names = ("pgqueuer", "APScheduler 3, PostgreSQL", "APScheduler 3, in memory")
    peers = [
        f"{name.replace(',', '')} {shown(late)} s"
        for name in names
        for duel in result.duels
        if duel.name == name
        and (late := best([theirs for _, theirs in duel.rounds], result.figure("p99"))) is not None
    ]
    return f"{told} ({', '.join(peers)})." if peers else f"{told}."


def _grown(result: Result) -> str:
    sizes = [duel.name for duel in result.duels if _times(result, duel.name, "time")]
    if not sizes:
        return ""
    times = _times(result, sizes[-1], "time")
    return f"A healthy pass over {sizes[-1]} schedules takes {times} times as long as over 1,000."


SENTENCES = {
    "postgresql": _drained,
    "redis": _brokered,
    "sqlite": _filed,
    "burst-10k": _late,
    "passes": _grown,
}
