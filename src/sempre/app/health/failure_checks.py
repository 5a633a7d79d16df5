"""The checks of work that fails, crashes, or waits for a worker or a switch. Pure."""

from collections.abc import Iterator, Sequence

from sempre.app.health.facts import COUNTED, Facts
from sempre.app.health.failures import ALL_FAILED, Failing
from sempre.app.health.problems import Problem, counted, listed
from sempre.app.times import format_duration, json_instant
from sempre.ports.health import Backlog

__all__ = ["failure_problems"]


def failure_problems(facts: Facts) -> Iterator[Problem]:
    """Yield the problems of work that fails, or cannot run."""
    yield from _of_failing(facts)
    yield from _of_held(facts)
    yield from _of_overruns(facts)
    yield from _of_jobs(facts)
    yield from _of_quarantine(facts)
    yield from _of_backlog(facts)
    yield from _of_held_work(facts)


def _of_failing(facts: Facts) -> Iterator[Problem]:
    if facts.failing:
        names = tuple(each.name for each in facts.failing)
        last = max(facts.failing, key=lambda each: each.since)
        found = f"{counted(names, 'schedule')} failing: {listed(names)}. "
        message = f"{found if len(names) > 1 else ''}{_in_words(last, facts)}"
        yield Problem("S207", message, names=names, advice=f"sempre show {last.name}")


def _in_words(each: Failing, facts: Facts) -> str:
    """Return since when a schedule fails, and the last error."""
    at = json_instant(each.since.replace(microsecond=0))
    since = f"{at}, {format_duration(facts.now - each.since)} ago"
    before = "before " if each.is_longer else ""
    return f"{each.name} fails since {before}{since}: {each.error.rstrip('.')}."


def _of_held(facts: Facts) -> Iterator[Problem]:
    if facts.held:
        names = tuple(facts.held)
        found = f"{counted(names, 'schedule')} held after a run with an unknown outcome"
        why = f"{names[0]}: {facts.held[names[0]]}"
        advice = f"sempre resume {names[0]}, after a look at what the run did"
        message = f"{found}: {listed(names)}. {why}."
        yield Problem("S208", message, names=names, advice=advice)


def _of_overruns(facts: Facts) -> Iterator[Problem]:
    if names := tuple(facts.overrunning):
        found = f"{counted(names, 'schedule')} running for longer than the time between two slots"
        advice = f"sempre show {names[0]}"
        yield Problem("S209", f"{found}: {listed(names)}.", "warning", names, advice)


def _of_jobs(facts: Facts) -> Iterator[Problem]:
    hopeless = [each for each in facts.failed_jobs if each.job in facts.hopeless_jobs]
    for each in hopeless:
        found = f"the last {ALL_FAILED} executions or more of the one-off job {each.job} all failed"
        advice = f"sempre execution {each.execution_id}"
        yield Problem("S306", f"{found}: {each.error}.", "error", (each.job,), advice)
    rest = [each for each in facts.failed_jobs if each not in hopeless]
    if rest:
        total = sum(each.count for each in rest)
        names = tuple(each.job for each in rest)
        counts = [f"{each.job} ({each.count})" for each in rest]
        found = f"{total} one-off execution{'' if total == 1 else 's'} failed within a day"
        message = f"{found}: {listed(counts)}. {rest[0].job}: {rest[0].error}."
        advice = f"sempre execution {rest[0].execution_id}"
        yield Problem("S305", message, "warning", names, advice)


def _of_quarantine(facts: Facts) -> Iterator[Problem]:
    if facts.quarantined:
        names = tuple(sorted({row.snapshot.name for row in facts.quarantined}))
        found = f"{counted(facts.quarantined, 'execution')} quarantined after three crashes"
        advice = f"sempre execution {facts.quarantined[0].id}"
        yield Problem("S309", f"{found}, within a day: {listed(names)}.", "error", names, advice)


def _of_backlog(facts: Facts) -> Iterator[Problem]:
    if not facts.alive:
        # One error for all of them: no worker is alive.
        return
    if facts.unknown_work:
        names = _sorted(each.job for each in facts.unknown_work)
        found = f"{_size(facts.unknown_work)} of jobs that no live worker knows"
        advice = f"start a worker that declares the job {names[0]}"
        yield Problem("S307", f"{found}: {listed(names)}.", "error", names, advice)
    if facts.unserved_work:
        names = _sorted(each.queue for each in facts.unserved_work)
        found = f"{_size(facts.unserved_work)} in queues that no live worker serves"
        advice = f"sempre worker APP -q {names[0]}"
        yield Problem("S308", f"{found}: {listed(names)}.", "error", names, advice)


def _of_held_work(facts: Facts) -> Iterator[Problem]:
    for each in facts.held_work:
        for_long = format_duration(facts.now - each.oldest_due_at)
        count = f"{each.count} due execution{'' if each.count == 1 else 's'}"
        message = f"the switch {each.switch} holds {count}, the first one for {for_long}."
        yield Problem("S502", message, "error", (each.switch,), f"sempre switch on {each.switch}")


def _sorted(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _size(groups: Sequence[Backlog]) -> str:
    count = sum(each.count for each in groups)
    more = " or more" if count >= COUNTED else ""
    return f"{count:,}{more} due execution{'' if count == 1 else 's'}"
