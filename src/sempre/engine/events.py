"""Events: what the engine tells whoever listens (logs, metrics, alerts, the user's own code).

A listener is called in the thread where the thing happened and outside of every store operation.
One that raises is logged and stays registered: telling about work never harms the work, and a
chat service that once timed out is asked again.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from sempre.clock import Clock, SystemClock

__all__ = ["Event", "Events", "Happened", "Listener"]

logger = logging.getLogger("sempre")
# A listener that raises at every event is logged so often, in seconds.
QUIET_FOR = 60.0


class Happened(StrEnum):
    """What can happen; the facts that come with it are named beside it."""

    STARTED = "execution.started"
    """execution, late (seconds after it was due)"""
    SUCCEEDED = "execution.succeeded"
    """execution, seconds, result"""
    FAILED = "execution.failed"
    """execution, seconds, error, traceback, retry_at (None: it is over)"""
    CANCELLED = "execution.cancelled"
    """execution, reason"""
    SKIPPED = "execution.skipped"
    """execution, verdict, reason"""
    RESULT_NOT_STORED = "result.not_stored"
    """execution, job, found (`NotJson` or `TooLarge`): the run succeeded, but what it returned is
    not JSON or over the limit; once per job and process"""
    LATE_RESULT = "execution.late_result"
    """execution: it ended after its lease was taken away; its result was kept beside it"""
    RESCUED = "execution.rescued"
    """execution, session: its worker is gone"""
    RELEASED = "execution.released"
    """execution: given back unfinished by a worker that stops"""
    UNROUTABLE = "execution.unroutable"
    """execution: its job is not known to this worker"""
    UNSERVED = "work.unserved"
    """queue, job, executions (how many of a page are due), names, reason, remedy: no live worker
    serves the queue, or knows the job"""
    UNKNOWN_GRID = "schedule.unknown_grid"
    """schedule, error"""
    FAULTY = "schedule.faulty"
    """schedule, error: one that planning could not deal with; all others go on"""
    SCHEDULE_BROKEN = "schedule.broken"
    """schedule, error: its grid gives no answer; the row it has still runs, and no other follows"""
    SCHEDULE_MENDED = "schedule.mended"
    """schedule, next_run_at: its grid answers again, after it was broken"""
    UNREADABLE = "row.unreadable"
    """row (an `Unreadable`), schedule (its name), error: a row that this process leaves alone,
    since it cannot read it; told once for each row and process"""
    PRUNED = "schedule.pruned"
    """schedule, reason, remedy: a deploy disabled it, as its owner's code declares it no more"""
    REENABLED = "schedule.enabled"
    """schedule, reason: a deploy enabled what an earlier deploy had disabled"""
    ORPHANED = "schedule.orphaned"
    """schedule, reason, remedy: no code declares it now, or no worker knows its job; left alone"""
    WITHHELD = "schedule.withheld"
    """schedule, reason, remedy: this code declares it, and a newer release keeps it disabled"""
    ADOPTED = "schedule.adopted"
    """schedule, reason: a deploy took it over from another owner"""
    OUTDATED = "schedule.outdated"
    """schedule, reason, remedy: a newer release took it over from the owner that this code has"""
    PAIR_SCANNED = "pair.scanned"
    """pair (its schedule), scan (a `Scan`): a pair has derived which runs should exist"""
    PAIR_UNCOVERED = "pair.uncovered"
    """pair, scan: the contract of a pair found unfinished work that its query did not"""
    PAIR_FULL_SCAN = "pair.full_scan"
    """pair, scan: the query of a pair reads big tables as a whole"""
    PAIR_BEHIND = "pair.behind"
    """pair, scan: a run of a pair took longer than the time to its next one"""
    SWITCHED_OFF = "switch.off"
    """switch: it is off, told once in every pass of the watchdog"""
    WATCHDOG_ENQUEUED = "watchdog.enqueued"
    """id, interval, runs_at, lane, priority: a message of the watchdog is on the broker"""
    PERFORM_STARTED = "perform_start"
    """interval"""
    PERFORMED = "perform"
    """interval, lock_acquired, schedules_processed, schedules_failed, executions_created,
    orphans_enqueued, rung_again, purged, switches_off, schedules_unreadable, deaf, seconds"""
    BROKER_DOWN = "broker.unavailable"
    """error, retry_in"""
    BROKER_UP = "broker.available"
    BROKER_DEAF = "broker.deaf"
    """lane: it takes tickets there and delivers none; the store serves until it is heard"""
    BROKER_HEARD = "broker.heard"
    """lane: it delivers again"""
    STORE_REPLACED = "store.replaced"
    """store, found: the store of that identity is gone; in its place is another one, or none if
    `found` is empty. It is set up again and told what the code declares"""
    STORE_DOWN = "store.unavailable"
    """error: the store is down, full, read-only or refuses a right; reported at the first failure,
    and then once in a minute"""
    STORE_UP = "store.available"
    """seconds, for which the store had failed this process"""
    SESSION_LOST = "session.lost"
    """session, executions (the ids of those that are stopped): it showed no life for a lease;
    others may have its work"""
    CLOCK_JUMPED = "clock.jumped"
    """seconds, by which the store's clock has moved against the time that passed here"""
    CAME_BACK = "schedule.came_back"
    """schedule, seconds, by which it was ahead of the store's clock, which had jumped"""
    BLUNDER = "engine.error"
    """error, where: a defect of ours; the loop that met it goes on"""


class Event(NamedTuple):
    """One thing that happened, with its facts."""

    name: Happened
    facts: Mapping[str, Any] = MappingProxyType({})


Listener = Callable[[Event], None]


@dataclass
class _Complaint:
    """When a listener's exception was last logged, and how many were not logged since."""

    logged_at: float
    more: int = 0


class Events:
    """Whom to tell what."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Begin with no listener; the clock times the log lines of listeners that raise."""
        self._clock = clock or SystemClock()
        self._complaints: dict[int, _Complaint] = {}
        self._listeners: dict[Happened | None, list[Listener]] = defaultdict(list)

    def listen(self, listener: Listener, *names: Happened) -> None:
        """Call a listener for these events, or for all if none is named."""
        for name in names or (None,):
            self._listeners[name].append(listener)

    def emit(self, name: Happened, **facts: object) -> None:
        """Tell everybody who listens; never raises."""
        event = Event(name, facts)
        for key in (name, None):
            if listeners := self._listeners.get(key):
                for listener in tuple(listeners):
                    self._call(listener, event)

    def has_listener(self, name: Happened) -> bool:
        """Tell whether anybody wants to hear of such a thing at the moment.

        A listener is asked by its method `hears`, if it has one. Who has very many things to tell
        need not put them into words for nobody.
        """
        listeners = (*self._listeners.get(name, ()), *self._listeners.get(None, ()))
        return any(getattr(each, "hears", _everything)(name) for each in listeners)

    def _call(self, listener: Listener, event: Event) -> None:
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001 - the user's own code may raise anything
            self._complain(listener, event, error)

    def _complain(self, listener: Listener, event: Event, error: Exception) -> None:
        """Log an exception with its traceback, once a minute for each listener."""
        now = self._clock.elapsed()
        before = self._complaints.get(id(listener))
        if before is not None and now - before.logged_at < QUIET_FOR:
            before.more += 1
            return
        more = f" ({before.more} more since the last such line)" if before and before.more else ""
        self._complaints[id(listener)] = _Complaint(now)
        name = getattr(listener, "__qualname__", type(listener).__qualname__)
        told = "the listener %s raised at %s and stays registered%s"
        logger.error(told, name, event.name, more, exc_info=error)


def _everything(_name: Happened) -> bool:
    return True
