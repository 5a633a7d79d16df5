"""Live changes: one poller for each process reports changed topics to every open page.

The poller makes one small query a second while at least one page is open, whatever the number of
pages: 200 open tabs that nothing happens in cost the store one query a second. A message says only
that a topic changed; the page then fetches itself again, under the rights of its visitor.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from itertools import cycle

from sempre.engine.core import Engine
from sempre.errors import SempreError
from sempre.ports.messages import ActionQuery

__all__ = ["TOPICS", "Poller", "Probes"]

logger = logging.getLogger("sempre")
TOPICS = ("runs", "schedules", "workers", "switches", "log")
EVERY = 1.0
"""Seconds between two queries."""
SILENCE = 15.0
"""Seconds after which a comment keeps a silent connection open."""
MOST_WAITING = 64


class Probes:
    """Queries that find changes, one at a time: a probe returns the topics that have changed.

    The mark of what executions do is asked for every other time; workers and the log of actions in
    between. While something runs, its progress counts as a change.
    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        """Take the engine when the first probe is made."""
        self._engine = engine
        self._turns = cycle((self._runs, self._actions, self._runs, self._fleet))
        self._seen: dict[str, object] = {}
        self._beat = False

    def next(self) -> frozenset[str]:
        """Make one query; return the topics that changed since the query was last made."""
        name, token, topics = next(self._turns)()
        is_first = name not in self._seen
        changed = not is_first and self._seen[name] != token
        self._seen[name] = token
        return topics if changed else frozenset()

    def _runs(self) -> tuple[str, object, frozenset[str]]:
        engine = self._engine()
        found = engine.read(engine.store.activity())
        # The beat goes on while something runs: its progress is shown.
        beat = bool(found.running) and not self._beat
        self._beat = beat
        return "runs", (found.mark, beat), frozenset({"runs"})

    def _actions(self) -> tuple[str, object, frozenset[str]]:
        engine = self._engine()
        rows = engine.read(engine.store.actions(ActionQuery(limit=1))).items
        topics = frozenset({"log", "schedules", "switches", "runs"})
        return "actions", [each.id for each in rows], topics

    def _fleet(self) -> tuple[str, object, frozenset[str]]:
        engine = self._engine()
        reading = engine.store.sessions()
        found = [
            (each.id, each.draining, each.is_leased_beyond(reading.now))
            for each in engine.read(reading)
        ]
        return "workers", sorted(found), frozenset({"workers"})


class Poller:
    """Polls while a page listens, and hands topics to every listener.

    Belongs to one event loop. The task of the poller ends with its last listener.
    """

    def __init__(self, probe: Callable[[], frozenset[str]], *, every: float = EVERY) -> None:
        """Take the query that finds changes; it is called in a thread."""
        self._probe = probe
        self._every = every
        self._listeners: set[asyncio.Queue[frozenset[str]]] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def listeners(self) -> int:
        """The number of open pages that listen."""
        return len(self._listeners)

    async def messages(self) -> AsyncGenerator[str, None]:
        """Yield server-sent events until the listener goes away."""
        queue: asyncio.Queue[frozenset[str]] = asyncio.Queue(MOST_WAITING)
        self._listeners.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._poll())
        try:
            yield "retry: 2000\n\n"
            while True:
                yield _event(await _within(queue, SILENCE))
        finally:
            self._listeners.discard(queue)

    async def _poll(self) -> None:
        while self._listeners:
            await asyncio.sleep(self._every)
            try:
                topics = await asyncio.to_thread(self._probe)
            except SempreError as error:
                # Pages show by themselves that the store is down; the poller goes on.
                logger.warning("the dashboard cannot read changes: %s", error)
                continue
            for queue in list(self._listeners) if topics else ():
                _offer(queue, topics)


async def _within(queue: asyncio.Queue[frozenset[str]], seconds: float) -> frozenset[str]:
    """Return the next topics; none after so many seconds."""
    try:
        return await asyncio.wait_for(queue.get(), seconds)
    except TimeoutError:
        return frozenset()


def _offer(queue: asyncio.Queue[frozenset[str]], topics: frozenset[str]) -> None:
    # A listener that does not read has all topics waiting already.
    if not queue.full():
        queue.put_nowait(topics)


def _event(topics: frozenset[str]) -> str:
    return (
        f"event: changed\ndata: {' '.join(_ordered(topics))}\n\n" if topics else ": still here\n\n"
    )


def _ordered(topics: frozenset[str]) -> Iterator[str]:
    return (each for each in TOPICS if each in topics)
