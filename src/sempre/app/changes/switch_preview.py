"""The preview of a switch: schedules and waiting work that it would stop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sempre.app.schedules.catalog import Schedules
from sempre.domain.execution import Execution
from sempre.domain.preview.preview import Window
from sempre.domain.preview.stops import StoppedSchedule, stopped_schedule
from sempre.domain.states import LIVE, Kind
from sempre.domain.switch import Switch
from sempre.engine.core import Engine
from sempre.ports.history_queries import ExecutionQuery
from sempre.ports.messages import View
from sempre.ports.pages import walk_pages

__all__ = ["MOST_WAITING", "SwitchPreview", "preview_switch"]

PAGE = 500
MOST_WAITING = 10_000
"""The most waiting one-off executions that a preview reads."""


@dataclass(frozen=True)
class SwitchPreview:
    """What a switch would stop.

    Attributes:
        switch: as it would be stored.
        schedules: the schedules that it stops, by name.
        waiting: how many waiting one-off executions it stops, of the first MOST_WAITING.
        is_counted: whether all waiting one-off executions were read.
    """

    switch: Switch
    window: Window
    schedules: tuple[StoppedSchedule, ...]
    waiting: int
    is_counted: bool


def preview_switch(engine: Engine, switch: Switch, window: Window) -> SwitchPreview:
    """Return what a switch would stop; nothing is written."""
    names = [each.name for each in Schedules(engine)]
    found = (
        stopped_schedule(view.schedule, view.rows, switch, window) for view in _views(engine, names)
    )
    rows = list(islice(_one_off(engine), MOST_WAITING))
    return SwitchPreview(
        switch,
        window,
        tuple(each for each in found if each is not None),
        sum(1 for row in rows if switch.stops(row)),
        len(rows) < MOST_WAITING,
    )


def _views(engine: Engine, names: Sequence[str]) -> Iterator[View]:
    for start in range(0, len(names), PAGE):
        yield from engine.read(engine.store.views(names[start : start + PAGE]))


def _one_off(engine: Engine) -> Iterator[Execution]:
    kinds = frozenset({Kind.ENQUEUED, Kind.DERIVED})
    return walk_pages(
        lambda after: engine.read(
            engine.store.executions(
                ExecutionQuery(states=frozenset(LIVE), kinds=kinds, limit=PAGE, after=after)
            )
        )
    )
