"""An embedded worker: inside a host program, which no state of the store ends.

A web server must answer although its database is down when it boots. Then the worker waits in a
thread, and begins once the store answers. No supervisor replaces a host whose fork server has died:
the worker begins anew without child processes, and leaves their jobs to other workers.
"""

import logging
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Self

from sempre.app.process.worker_threads import Running
from sempre.engine.breaker import Breaker
from sempre.engine.heartbeat_line import WorkerEnd
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import StoreError, StoreRefused
from sempre.urls import masked

if TYPE_CHECKING:
    from sempre.app.metrics.publication import ServedHere

__all__ = ["Embedded"]

logger = logging.getLogger("sempre")
NEXT = "the next try is in %.0f s: %s"
REFUSES = f"the store %s refuses; the worker begins once it can be used; {NEXT}"
SILENT = f"the store %s does not answer; the worker begins once it does; {NEXT}"


class Embedded(Running):
    """A worker in threads of a host; made by `Sempre.running`.

    A burst raises an error of its store: the caller waits for its outcome.
    """

    _waiting: Thread | None = None
    _metrics_address = ""
    served: "ServedHere | None" = None
    """The endpoint of the metrics, from `begin` to `end`."""

    def serving_metrics_on(self, address: str | None) -> Self:
        """Serve the metrics of this process on an address, from `begin` to `end`, if given one."""
        self._metrics_address = address or ""
        return self

    def begin(self) -> Self:
        """Start the worker, or wait for its store in a thread if the store cannot be used yet.

        Each try that the store does not answer, or refuses, is logged.

        Raises:
            InvalidInput: the address for metrics cannot be used.
        """
        metrics = self._app.process_metrics
        if not self._metrics_address or self._app.composition.is_virtual:
            metrics.watch(self)
            return self._begin()
        self.served = metrics.served_on(self._metrics_address)
        self._given_private = tuple(self.served.private)
        try:
            self._begin()
        except BaseException:
            self.served.stop()
            raise
        # Only now: the executors fork before there are threads.
        self.served.start(self)
        return self

    def _begin(self) -> Self:
        if self._burst:
            return super().begin()
        self._gone, self._turn = Event(), Lock()
        self._breaker = Breaker(self._app.clock)
        # A fork server that dies meanwhile must not begin a second worker beside this one.
        with self._turn:
            is_begun = self._try()
        if not is_begun:
            self._waiting = Thread(target=self._begin_later, name="sempre-embedded", daemon=True)
            self._waiting.start()
        return self

    def end(self, *, drain: float | None = None) -> None:
        """Stop the worker, or the wait for its store. A second call does nothing."""
        try:
            self._end(drain)
        finally:
            served, self.served = self.served, None
            if served is not None:
                served.stop()

    def _end(self, drain: float | None) -> None:
        if self._waiting is None:
            super().end(drain=drain)
            return
        self._gone.set()
        # A try may be under way: wait for its end; its worker is ended below.
        with self._turn:
            self._waiting = None
        if self.worker is None:
            self.executors.stop()
        super().end(drain=drain)

    def _prepare(self, line: WorkerEnd | None) -> None:
        """Make a worker that ends in a thread of its own when an operator drains it."""
        super()._prepare(line)
        if self.worker is not None and not self._burst:
            self.worker.drain = self._drain

    def _drain(self) -> None:
        logger.warning("an operator drains this embedded worker; its host goes on without it")
        Thread(target=self.end, name="sempre-drain").start()

    def _leave(self, reason: str) -> None:
        """Begin anew without child processes, since a process with threads cannot fork them."""
        if self._burst:
            return
        logger.error("the embedded worker begins anew without child processes: %s", reason)
        self._waiting = Thread(target=self._begin_anew, name="sempre-embedded", daemon=True)
        self._waiting.start()

    def _begin_anew(self) -> None:
        with self._turn:
            if self._gone.is_set():
                return
            super().end()
            self.spec = WorkerSpec(self._app.tasks, self.spec.queues, self.spec.hands)
            self.executors = self._new_executors()
            if self._try():
                return
        self._begin_later()

    def _begin_later(self) -> None:
        while not self._gone.wait(self._breaker.rest):
            with self._turn:
                if self._gone.is_set() or self._try():
                    return

    def _try(self) -> bool:
        """Begin; log and return False if the store cannot be used yet."""
        try:
            super().begin()
        except StoreError as error:
            self.worker = None
            self._log(error, self._breaker.failed())
            return False
        except Exception:
            if self._waiting is None:
                raise
            # In this thread no caller is left to raise to; a later deploy may mend the mistake.
            self.worker = None
            self._breaker.failed()
            logger.exception("the worker cannot begin; it is tried again")
            return False
        return True

    def _log(self, error: StoreError, rest: float) -> None:
        store = masked(self._app.settings.store)
        if isinstance(error, StoreRefused):
            logger.error(REFUSES, store, rest, error)
        else:
            logger.warning(SILENT, store, rest, error)
