"""The worker's side of runs in child processes: begins them, limits them, hears how they end."""

import logging
import os
import selectors
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from threading import Thread, current_thread
from typing import Any

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.errors.wording import written_length
from sempre.executors.alarm import Alarm
from sempre.executors.calling import Report, cancelled
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.flights import Flights, judged
from sempre.executors.process.child import Births, call_of
from sempre.executors.process.children import Child, ChildFlight, Children
from sempre.executors.process.frames import BrokenFrame, packed
from sempre.executors.process.nurseries import Handle, Nurseries
from sempre.executors.process.orders import BORN, GONE, READY, SIGNAL, UNBORN, order
from sempre.executors.process.system import ending
from sempre.ports.executor import Ended, Outcome, Progress, Run, Task

__all__ = ["ProcessExecutor"]

_LOG = logging.getLogger("sempre.executors")
_DIED = "the nursery of child processes died, and its process with it"
_UNBORN = "it could not begin: its process ended at once"
_BOTH_DIED = "both nurseries of this worker died; restart it"


class ProcessExecutor:
    """An executor that forks one child for each run.

    A child that crashes, is killed or eats its memory harms nobody else. One whose time is over,
    or that is cancelled, gets SIGTERM and after `grace` SIGKILL, each with everything it started;
    it is told of when it is gone. If the worker dies, its children are killed.

    A child begins as a copy of what this process was at the start: with the same modules and the
    same jobs, but connections that were open then must not be used, so `after_fork` opens new
    ones. A random generator other than Python's own begins in the same state in every child.
    """

    def __init__(
        self,
        lookup: Callable[[str], Task],
        *,
        after_fork: Iterable[Callable[[], object]] = (),
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        broken: Callable[[str], None] | None = None,
        opener: Opener | None = None,
    ) -> None:
        """Make an executor; `lookup` returns a task by name, or raises KeyError.

        If it can begin no run any more, `broken` is called with the reason.
        """
        self._broken = broken
        self._clock = clock or SystemClock()
        self._grace = grace.total_seconds()
        self._flights: Flights[ChildFlight] = Flights(self._clock)
        self._alarm = Alarm(self._clock)
        self._nurseries = Nurseries(Births(lookup, tuple(after_fork), self._clock, opener))
        self._selector = selectors.DefaultSelector()
        self._children = Children(lambda: self._nurseries.active)
        self._thread: Thread | None = None
        self._stopped = False

    def start(self) -> None:
        """Fork the nursery, then begin to listen to it.

        Raises:
            Refused: this process has threads already.
        """
        if self._thread is not None:
            return
        self._watch(self._nurseries.start())
        self._breed()
        self._thread = Thread(target=self._listen, name="sempre-processes", daemon=True)
        self._thread.start()

    def submit(self, run: Run, done: Callable[[Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was not started, or was stopped.
        """
        if self._thread is None or self._stopped:
            raise Refused("the executor is not running: start() it first, and submit before stop()")
        if self._nurseries.active is None:
            # No fault of the job's, so it is not to cost one of its tries.
            done(Outcome(run, Ended.CRASHED, error=f"it could not begin: {_BOTH_DIED}"))
            return
        began = self._clock.elapsed()
        current = Current.of(run, began=began, clock=self._clock, link=Link())
        self._begin(ChildFlight(run, done, current, began))
        with suppress(OSError):
            # The next run will order them, if it must.
            self._children.order()

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end, with SIGTERM and later SIGKILL; False if it is unknown."""
        flights = self._flights.of(execution_id)
        for flight in flights:
            self._ask(flight, cancelled(reason), reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        return self._flights.progress()

    @property
    def stuck(self) -> int:
        """How many children did not even end when they were killed."""
        return self._flights.stuck

    def stop(self) -> None:
        """Kill every child with what it started, tell of none, and end the nurseries."""
        self._stopped = True
        self._alarm.stop()
        self._flights.abandon()
        for handle in self._nurseries.all():
            handle.hang_up()
        if self._thread is not None and self._thread is not current_thread():
            self._thread.join(2 * self._grace)

    # Beginning and ending a run: from any thread.

    def _begin(self, flight: ChildFlight) -> None:
        self._flights.add(flight)
        if flight.run.timeout is not None:
            verdict = Report(
                Ended.TIMED_OUT, error=f"timed out after {written_length(flight.run.timeout)}"
            )
            at = flight.began + flight.run.timeout.total_seconds()
            self._alarm.set(flight, at, lambda: self._ask(flight, verdict, "its time is over"))
        if (report := self._hand_over(flight)) is not None:
            self._end(flight, report)

    def _hand_over(self, flight: ChildFlight) -> Report | None:
        """Give a run to a child; return how it ended if none could take it."""
        call = packed({"call": call_of(flight.run)})
        try:
            with flight.lock:
                is_taken = self._children.take(flight, call)
        except ConnectionError as error:
            return Report(Ended.CRASHED, error=f"{_DIED} ({error})")
        except OSError as error:
            return Report(Ended.FAILED, error=f"it could not begin: {error}")
        return None if is_taken else Report(Ended.CRASHED, error=_UNBORN)

    def _end(self, flight: ChildFlight, report: Report) -> None:
        self._alarm.forget(flight)
        self._flights.end(flight, judged(report, flight.verdict))

    def _ask(self, flight: ChildFlight, verdict: Report, reason: str) -> None:
        with flight.lock:
            child = flight.child
            if child is None or flight.verdict is not None or flight.is_told:
                return
            flight.verdict = verdict
        child.hint(packed({"cancel": reason}))
        self._signal(flight, signal.SIGTERM)
        at = self._clock.elapsed() + self._grace
        self._alarm.set(flight, at, lambda: self._kill(flight, verdict))

    def _kill(self, flight: ChildFlight, verdict: Report) -> None:
        self._signal(flight, signal.SIGKILL)
        # Not even that ends a process which waits for a broken disk.
        at = self._clock.elapsed() + self._grace
        self._alarm.set(flight, at, lambda: self._flights.give_up(flight, verdict))

    def _signal(self, flight: ChildFlight, number: signal.Signals) -> None:
        if (child := flight.child) is not None:
            with suppress(OSError):
                child.nursery.send(order(SIGNAL, child.number, number))

    # Listening: in one thread, which alone watches and closes the streams.

    def _listen(self) -> None:
        while self._nurseries.all():
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:  # noqa: BLE001 - one run must not deafen us to the others
                    _LOG.exception("a message of a child or nursery could not be read")
        for child in self._children.all():
            self._close(child)
        self._selector.close()

    def _watch(self, handle: Handle) -> None:
        self._selector.register(
            handle.control, selectors.EVENT_READ, lambda: self._hear_nursery(handle)
        )

    def _breed(self) -> None:
        handle = None if self._stopped else self._nurseries.breed()
        if handle is not None:
            self._watch(handle)
            if self._stopped:
                handle.hang_up()

    def _hear_nursery(self, handle: Handle) -> None:
        raw = _received(handle.control)
        if raw is None:
            return
        if not raw:
            self._lose(handle)
        for what, number, detail in handle.orders.feed(raw):
            self._heed(handle, what, number, detail)

    def _heed(self, handle: Handle, what: int, number: int, detail: int) -> None:
        if what == BORN:
            self._welcome(number, detail)
        elif what == GONE:
            self._bury(number, Report(Ended.CRASHED, error=ending(detail)))
        elif what == UNBORN:
            error = f"it could not begin: {os.strerror(detail)}"
            self._bury(number, Report(Ended.FAILED, error=error))
        elif what == READY:
            handle.is_ready = True

    def _welcome(self, number: int, pid: int) -> None:
        child = self._children.get(number)
        if child is not None:
            child.pid = pid
            child.is_watched = True
            self._selector.register(
                child.stream, selectors.EVENT_READ, lambda: self._hear_child(child)
            )
        if self._nurseries.spare is None:
            self._breed()

    def _hear_child(self, child: Child) -> None:
        raw = _received(child.stream)
        if raw == b"":
            # It ends, or has closed what it does not know; the nursery will tell.
            self._unwatch(child)
            child.leave()
        elif raw is not None:
            self._read(child, raw)

    def _read(self, child: Child, raw: bytes) -> None:
        flight = child.flight
        if flight is None:
            return
        try:
            for message in child.frames.feed(raw):
                self._note(child, flight, message)
        except (BrokenFrame, KeyError, TypeError, ValueError) as error:
            self._unwatch(child)
            verdict = Report(Ended.CRASHED, error=f"the job wrote on the worker's socket: {error}")
            self._ask(flight, verdict, "it wrote on the worker's socket")

    def _note(self, child: Child, flight: ChildFlight, message: dict[str, Any]) -> None:
        if "report" in message:
            ended, *rest = message["report"]
            report = Report(Ended(ended), *rest)
            self._close(child)
            self._end(flight, report)
        else:
            flight.current.link.tell(Progress(*message["progress"]))

    def _bury(self, number: int, report: Report) -> None:
        """End the run of a child that is gone, by its own last words if it had any."""
        child = self._children.bury(number)
        if child is None:
            return
        flight = child.leave()
        while flight is not None and not flight.is_told and (raw := _received(child.stream)):
            self._read(child, raw)
        self._close(child)
        if flight is not None:
            self._end(flight, report)

    def _lose(self, handle: Handle) -> None:
        self._selector.unregister(handle.control)
        self._nurseries.bury(handle)
        lost = self._children.of(handle)
        for child in lost:
            # Before anybody hears of it, and gives one that waits a run.
            child.leave()
        if not self._stopped:
            _LOG.error("a nursery of child processes died, and %d runs with it", _runs(lost))
            if self._nurseries.active is None:
                _LOG.critical(_BOTH_DIED)
                if self._broken is not None:
                    self._broken(_BOTH_DIED)
        for child in lost:
            if child.pid is not None:
                # The child died with it; this is for what the child had started.
                with suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)
            self._bury(child.number, Report(Ended.CRASHED, error=_DIED))
        if handle.is_ready:
            # One that never came to life is asked for again with the next run, not at once.
            self._breed()

    def _unwatch(self, child: Child) -> None:
        if child.is_watched:
            child.is_watched = False
            self._selector.unregister(child.stream)

    def _close(self, child: Child) -> None:
        self._unwatch(child)
        child.close()


def _runs(children: list[Child]) -> int:
    return sum(1 for child in children if child.flight is not None)


def _received(stream: socket.socket) -> bytes | None:
    """Return what has arrived: nothing if the other side is closed, None if there is no more."""
    try:
        return stream.recv(65_536, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""
