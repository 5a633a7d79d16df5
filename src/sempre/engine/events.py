"""Events: what the engine reports to listeners (logs, metrics, alerts, the user's own code).

A listener is called in the thread of the event and outside of every store operation. An error of a
listener is logged and the listener stays registered: reports about work never harm the work, and a
chat service that once timed out is called again.
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
# Seconds between two log lines about a listener that raises at every event.
QUIET_FOR = 60.0


class Happened(StrEnum):
    """The names of events; the facts of each are listed beside it.

    Events about the end of a run have a `traceparent` too, if the run has a span.
    """

    STARTED = "execution.started"
    """execution, late (seconds after its due_at)"""
    SUCCEEDED = "execution.succeeded"
    """execution, seconds, result"""
    FAILED = "execution.failed"
    """execution, seconds, error, traceback, retry_at (None: no retry follows)"""
    RETRY_LATER = "execution.retry_later"
    """execution, seconds, reason, retry_at: the job raised RetryLater"""
    CANCELLED = "execution.cancelled"
    """execution, reason"""
    SKIPPED = "execution.skipped"
    """execution, verdict, reason"""
    RESULT_NOT_STORED = "result.not_stored"
    """execution, job, found (`NotJson` or `TooLarge`): the run succeeded, but its result is not
    JSON or over the limit; once per job and process"""
    LATE_RESULT = "execution.late_result"
    """execution: a run ended after its claim was lost; its result was kept as a late attempt"""
    RESCUED = "execution.rescued"
    """execution, session: its worker is gone"""
    RELEASED = "execution.released"
    """execution: a worker gave the claim back before the run began"""
    UNROUTABLE = "execution.unroutable"
    """execution: its job is not known to this worker"""
    UNSERVED = "work.unserved"
    """queue, job, executions (how many of a page are due), names, reason, remedy: no live worker
    serves the queue, or knows the job"""
    UNKNOWN_GRID = "schedule.unknown_grid"
    """schedule, error"""
    FAULTY = "schedule.faulty"
    """schedule, error: planning raised for this schedule; all other schedules go on"""
    SCHEDULE_BROKEN = "schedule.broken"
    """schedule, error: its grid raised; its next row still runs, and no other row follows"""
    SCHEDULE_MENDED = "schedule.mended"
    """schedule, next_run_at: its grid works again, after it was broken"""
    UNREADABLE = "row.unreadable"
    """row (an `Unreadable`), schedule (its name), error: a row that this process cannot
    read and leaves alone; once per row and process"""
    PRUNED = "schedule.pruned"
    """schedule, reason, remedy: a deploy disabled it, since its owner's code declares it no more"""
    REENABLED = "schedule.enabled"
    """schedule, reason: a deploy enabled it again, after an earlier deploy had disabled it"""
    ORPHANED = "schedule.orphaned"
    """schedule, reason, remedy: no code declares it now, or no worker knows its job; left alone"""
    WITHHELD = "schedule.withheld"
    """schedule, reason, remedy: this code declares it, and a newer release keeps it disabled"""
    ADOPTED = "schedule.adopted"
    """schedule, reason: a deploy took it over from another owner"""
    OUTDATED = "schedule.outdated"
    """schedule, reason, remedy: a newer release took it over from the owner that this code has"""
    PAIR_SCANNED = "pair.scanned"
    """pair (its schedule), scan (a `Scan`): the query of a pair listed which runs should exist"""
    PAIR_UNCOVERED = "pair.uncovered"
    """pair, scan: the contract of a pair found unfinished work that its query did not list"""
    PAIR_FULL_SCAN = "pair.full_scan"
    """pair, scan: the query of a pair reads big tables as a whole"""
    PAIR_BEHIND = "pair.behind"
    """pair, scan: a run of a pair took longer than the time to its next one"""
    SWITCHED_OFF = "switch.off"
    """switch: it is off; once in every pass of the watchdog"""
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
    """lane: the broker takes its tickets and delivers none; workers scan the store until it does"""
    BROKER_HEARD = "broker.heard"
    """lane: the broker delivers its tickets again"""
    STORE_REPLACED = "store.replaced"
    """store, found: the store of that identity is gone; in its place is the store `found`, or none
    if that is empty. It is set up again, with the schedules that the code declares"""
    STORE_DOWN = "store.unavailable"
    """error: the store is down, full, read-only or refuses a right; reported at the first failure,
    and then once in a minute"""
    STORE_UP = "store.available"
    """seconds, for which the store had failed this process"""
    SESSION_LOST = "session.lost"
    """session, executions (the ids of its runs, which are cancelled): it was not renewed for a
    lease; other workers may have claimed its executions"""
    CLOCK_JUMPED = "clock.jumped"
    """seconds, by which the store's clock has moved against the time that passed here"""
    CAME_BACK = "schedule.came_back"
    """schedule, seconds, by which its cursor was ahead of the store's clock, after a jump"""
    INTERNAL_ERROR = "engine.error"
    """error, where: a defect of Sempre; the loop that met it goes on"""


class Event(NamedTuple):
    """One event, with its facts."""

    name: Happened
    facts: Mapping[str, Any] = MappingProxyType({})


Listener = Callable[[Event], None]


@dataclass
class _Complaint:
    """When a listener's exception was last logged, and how many were not logged since."""

    logged_at: float
    more: int = 0


class Events:
    """The listeners of one process, by event."""

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
        """Call every listener of an event; never raises."""
        event = Event(name, facts)
        for key in (name, None):
            if listeners := self._listeners.get(key):
                for listener in tuple(listeners):
                    self._call(listener, event)

    def has_listener(self, name: Happened) -> bool:
        """Return whether a listener wants this event at the moment.

        A listener is asked by its method `hears`, if it has one. Callers with very many events need
        not make them in vain.
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
        text = "the listener %s raised at %s and stays registered%s"
        logger.error(text, name, event.name, more, exc_info=error)


def _everything(_name: Happened) -> bool:
    return True
