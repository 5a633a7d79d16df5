"""Worker processes: each works until a signal asks it to stop, and is replaced if it crashes."""

import gc
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from functools import partial
from mmap import mmap
from threading import Thread
from typing import TYPE_CHECKING

from sempre.app.process.signals import StopRequests, stop_requests_by_signal
from sempre.app.process.wait_for_store import StoreRetry, is_stopped_within
from sempre.app.process.worker_threads import Running
from sempre.engine.supervisor import DRAINED, Supervisor

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.app.metrics.metrics_process import MetricsProcess
    from sempre.app.metrics.publication import Publication

__all__ = ["start_processes", "work"]

logger = logging.getLogger("sempre")
DRAIN_REQUESTED = "an operator drains this worker"
# Signals within a second count as one: a service manager signals every process, and a supervisor
# passes its own signal on.
ONE_SIGNAL = 1.0
# New objects between two garbage collections: Python's own default, and that of a worker.
USUAL_YOUNG = (700, 2000)
YOUNG = 10_000


def start_processes(
    app: "Sempre",
    *,
    queues: Iterable[str] | None,
    concurrency: int,
    processes: int,
    metrics: str | None = None,
) -> None:
    """Work until a signal asks to stop; in child processes, if these can share the store.

    Metrics are served on the address `metrics`, by default that of the settings, if there is one.
    """
    address = app.settings.metrics if metrics is None else metrics
    chosen = None if queues is None else tuple(queues)
    # Shared with the workers: whether the store has accepted one of them.
    accepted = mmap(-1, 1)

    def run(parent_pipe: int, begun: Callable[[], None]) -> int:
        if served is not None:
            served.enter_worker()
        return work(
            app,
            queues=chosen,
            concurrency=concurrency,
            parent_pipe=parent_pipe,
            begun=begun,
            accepted=accepted,
            metrics=served,
        )

    if not app.composition.can_fork:
        here = app.process_metrics.served_on(address) if address else None
        work(app, queues=chosen, concurrency=concurrency, metrics=here)
        return
    app.close()
    served = _metrics_process(app, address) if address else None
    companion = None if served is None else served.serve
    try:
        Supervisor(run, processes, app.clock, companion).run_until_stopped()
    finally:
        if served is not None:
            served.close()


def _metrics_process(app: "Sempre", address: str) -> "MetricsProcess":
    from sempre.app.metrics.metrics_process import MetricsProcess  # noqa: PLC0415 - an HTTP server

    return MetricsProcess(app, address)


def work(
    app: "Sempre",
    *,
    queues: Iterable[str] | None,
    concurrency: int,
    parent_pipe: int | None = None,
    begun: Callable[[], None] | None = None,
    accepted: mmap | None = None,
    metrics: "Publication | None" = None,
) -> int:
    """Work in this process until SIGTERM or SIGINT; a later signal ends the drain.

    Return 0, or DRAINED if an operator has drained this worker. The process waits for a store that
    does not answer. A store that refuses raises its error, unless the byte `accepted` says that the
    store has accepted a worker before.

    Args:
        app: whose jobs run.
        queues: to serve; by default every declared queue.
        concurrency: the most runs at once.
        parent_pipe: can be read once the supervisor has ended: then the worker stops.
        begun: called before the first run.
        accepted: set to 1 when the store accepts this worker.
        metrics: where the metrics of this worker are published.
    """
    # First of all: a signal may come while the rest is set up.
    with closing(app), stop_requests_by_signal(app.clock) as requests:
        retry = _store_retry(app, requests, parent_pipe, accepted)
        # Before anything is forked: a store may start threads.
        can_fork = app.composition.can_fork
        if can_fork and not retry.wait_for_store():
            return 0
        running = Running(
            app,
            queues=queues,
            concurrency=concurrency,
            forks=can_fork,
            begun=begun,
            retry=retry.retry,
            private=[
                *([] if parent_pipe is None else [parent_pipe]),
                *([] if metrics is None else metrics.private),
            ],
        )
        worker = running.begin().worker
        drained: list[str] = []
        if worker is not None:
            worker.leave = partial(_leave, requests)
            worker.drain = partial(_drain, requests, drained)
        _collect_seldom()
        if parent_pipe is not None:
            Thread(target=_stop_with_parent, args=(parent_pipe, requests), daemon=True).start()
        with nullcontext() if metrics is None else metrics.publishing(running):
            first = requests.next()
            logger.info("stopping: this worker claims no more executions and waits for its runs")
            _end(running, requests, first)
    return DRAINED if drained else 0


def _leave(requests: StopRequests, reason: str) -> None:
    logger.error("this worker process ends, to be replaced: %s", reason)
    requests.add()


def _drain(requests: StopRequests, drained: list[str]) -> None:
    logger.warning("%s", DRAIN_REQUESTED)
    drained.append(DRAIN_REQUESTED)
    requests.add()


def _store_retry(
    app: "Sempre", requests: StopRequests, parent_pipe: int | None, accepted: mmap | None
) -> StoreRetry:
    def is_stopped(seconds: float) -> bool:
        return is_stopped_within(seconds, requests, parent_pipe)

    url, clock = app.settings.store, app.clock
    return StoreRetry(url, clock=clock, is_stopped=is_stopped, accepted=accepted)


def _collect_seldom() -> None:
    """Exempt the objects of the start from garbage collection, and collect new ones seldom.

    What a worker holds comes and goes in batches. A threshold that the user's code has set stays.
    """
    gc.freeze()
    if gc.get_threshold()[0] in USUAL_YOUNG:
        gc.set_threshold(YOUNG)


def _end(running: Running, requests: StopRequests, requested_at: float | None) -> None:
    """End a worker in a thread, while this thread receives signals: a later one hurries."""
    is_over = False

    def end() -> None:
        nonlocal is_over
        try:
            running.end()
        finally:
            is_over = True
            # Ends the wait for a signal below.
            requests.add()

    ending = Thread(target=end)
    ending.start()
    while not is_over:
        now = requests.next()
        if requested_at is None:
            requested_at = now
        elif now is not None and now - requested_at > ONE_SIGNAL:
            running.hurry()
    ending.join()


def _stop_with_parent(parent_pipe: int, requests: StopRequests) -> None:
    os.read(parent_pipe, 1)
    if not requests.were_made:
        logger.error("this worker process ends, as its supervisor is gone")
        requests.add()
