"""Worker processes: each works until a signal asks it to stop, and is replaced if it crashes."""

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from mmap import mmap
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING

from sempre.app.awaiting import Insistence, asked_within
from sempre.app.running import Running
from sempre.app.wishes import Wishes
from sempre.engine.supervising import Supervisor

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["start_processes", "work"]

logger = logging.getLogger("sempre")
# A service manager tells every process, and a supervisor passes on what it is told: that is one.
ONE_SIGNAL = 1.0
# After how many new objects the collector looks at them, by default of Python, and here.
USUAL_YOUNG = (700, 2000)
YOUNG = 10_000


def start_processes(
    app: "Sempre", *, queues: Iterable[str] | None, concurrency: int, processes: int
) -> None:
    """Work until a signal asks to stop; in children, if the store can be shared with them."""
    chosen = None if queues is None else tuple(queues)
    # Shared with the workers: whether the store has accepted one of them.
    accepted = mmap(-1, 1)

    def run(leash: int, begun: Callable[[], None]) -> int:
        return work(
            app,
            queues=chosen,
            concurrency=concurrency,
            leash=leash,
            begun=begun,
            accepted=accepted,
        )

    if not app.can_fork:
        work(app, queues=chosen, concurrency=concurrency)
        return
    app.close()
    Supervisor(run, processes=processes, clock=app.clock).run_until_stopped()


def work(
    app: "Sempre",
    *,
    queues: Iterable[str] | None,
    concurrency: int,
    leash: int | None = None,
    begun: Callable[[], None] | None = None,
    accepted: mmap | None = None,
) -> int:
    """Work in this process until SIGTERM or SIGINT; a later one ends the draining. Return 0.

    While the store does not answer it waits; one that refuses ends it with an error, unless the
    byte `accepted` says that the store has accepted a worker before. That byte is set here.

    With a leash also until that can be read: whoever held it is gone. Before the first run `begun`
    is called.
    """
    wishes = Wishes()

    def leave(reason: str) -> None:
        logger.error("this worker process ends, to be replaced: %s", reason)
        wishes.make()

    # First of all: what comes after takes its time, and a signal may come meanwhile.
    with _heard_signals(app, wishes):
        insist = _insistence(app, wishes, leash, accepted)
        # Before anything is forked: a store may bring threads along.
        if app.can_fork and not insist.await_store():
            return 0
        running = Running(
            app,
            queues=queues,
            concurrency=concurrency,
            forks=app.can_fork,
            begun=begun,
            insist=insist,
            leash=leash,
        )
        worker = running.begin().worker
        if worker is not None:
            worker.leave = leave
        _collect_seldom()
        if leash is not None:
            Thread(target=_wait_for_end, args=(leash, wishes), daemon=True).start()
        first = wishes.next()
        logger.info("this worker takes no more work and waits for what it runs")
        _end(running, wishes, first)
    return 0


@contextmanager
def _heard_signals(app: "Sempre", wishes: Wishes) -> Iterator[None]:
    """Take SIGTERM and SIGINT as wishes to stop; close the application in the end."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        wishes.make(app.clock.elapsed())

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        app.close()


def _insistence(
    app: "Sempre", wishes: Wishes, leash: int | None, accepted: mmap | None
) -> Insistence:
    def is_asked(seconds: float) -> bool:
        return asked_within(seconds, wishes, leash)

    url, clock = app.settings.store, app.clock
    return Insistence(url, clock=clock, asked=is_asked, accepted=accepted)


def _collect_seldom() -> None:
    """Let the collector leave alone what was loaded by now, and look seldom at what is new.

    What a worker holds comes and goes in batches. How often the user's own code said to look stays.
    """
    gc.freeze()
    if gc.get_threshold()[0] in USUAL_YOUNG:
        gc.set_threshold(YOUNG)


def _end(running: Running, wishes: Wishes, heard_at: float | None) -> None:
    """End a worker in a thread, so that this one goes on hearing signals: a later one hurries."""
    is_over = False

    def end() -> None:
        nonlocal is_over
        try:
            running.end()
        finally:
            is_over = True
            # Whoever waits below for a signal need wait no longer.
            wishes.make()

    ending = Thread(target=end)
    ending.start()
    while not is_over:
        now = wishes.next()
        if heard_at is None:
            heard_at = now
        elif now is not None and now - heard_at > ONE_SIGNAL:
            running.hurry()
    ending.join()


def _wait_for_end(leash: int, wishes: Wishes) -> None:
    os.read(leash, 1)
    if not wishes.is_made:
        logger.error("this worker process ends, as its supervisor is gone")
        wishes.make()
