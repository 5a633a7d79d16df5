"""Reads which executions wait for too long, and why."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from sempre.app.health.facts import COUNTED, HELD_LONG, MOST, HeldWork
from sempre.app.health.reader import Reader
from sempre.app.schedules.deploy import known_jobs
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.ports.health import Backlog
from sempre.ports.messages import Candidate, Session, Waiting

__all__ = ["overdue_work", "read_waiting_work"]

PAGES = 10
"""The most pages of overdue executions that are read."""


def read_waiting_work(
    reader: Reader, alive: Sequence[Session], switches: Sequence[Switch]
) -> dict[str, Any]:
    """Return the facts about executions that wait."""
    late = reader.settings.sweep + reader.settings.grace
    waiting = list(overdue_work(reader, late))
    groups = reader.read(reader.store.backlog(late=late, limit=COUNTED))
    free = [each for each in groups if not each.held_by]
    jobs = known_jobs(alive, reader.now)
    queues = {queue for each in alive for queue in each.queues}
    return {
        "overdue": [each.execution for each in waiting if each.stopped_by is None][:MOST],
        "unannounced": _unannounced(reader),
        "unknown_work": [each for each in free if each.is_one_off and each.job not in jobs],
        "unserved_work": [each for each in free if each.queue not in queues],
        "held_work": _held_work(reader, waiting, groups, switches),
    }


def overdue_work(reader: Reader, late: timedelta) -> Iterator[Candidate]:
    """Yield overdue executions, until enough of them are found that no switch stops."""
    after, count = "", 0
    for _ in range(PAGES):
        reading = reader.store.waiting(None, horizon=-late, after=after, limit=MOST)
        page = reader.read(reading)
        for each in _candidates(reader, page.items):
            count += each.stopped_by is None
            yield each
        after = page.after
        if not after or count >= MOST:
            return


def _unannounced(reader: Reader) -> list[Execution]:
    """Return rows due before the next pass that were not announced; new rows may yet be."""
    settings, now = reader.settings, reader.now
    horizon = settings.watchdog_interval
    found = reader.read(reader.store.unannounced(horizon=horizon, limit=MOST))
    oldest = now - timedelta(seconds=2) - settings.grace
    rows = [each.execution for each in _candidates(reader, found)]
    return [row for row in rows if row.state is State.PENDING and row.created_at < oldest]


def _candidates(reader: Reader, waiting: Sequence[Waiting]) -> list[Candidate]:
    found = reader.read(reader.store.candidates([each.id for each in waiting]))
    return [each for each in found if each.execution.is_live]


def _held_work(
    reader: Reader,
    waiting: Sequence[Candidate],
    groups: Sequence[Backlog],
    switches: Sequence[Switch],
) -> list[HeldWork]:
    """Return the work that each switch without an end has held for long."""
    now = reader.now
    endless = {each.name for each in switches if each.until is None and each.holds}
    stopped = [
        (each.stopped_by.name, 1, each.execution.due_at) for each in waiting if each.stopped_by
    ]
    held = [(each.held_by, each.count, each.oldest_due_at) for each in groups if each.held_by]
    found: dict[str, HeldWork] = {}
    for name, count, due_at in (*stopped, *held):
        if name in endless and now - due_at > HELD_LONG:
            known = found.get(name, HeldWork(name, 0, due_at))
            oldest = min(known.oldest_due_at, due_at)
            found[name] = HeldWork(name, known.count + count, oldest)
    return [found[name] for name in sorted(found)]
