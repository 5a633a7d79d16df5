"""The desk: a store that is set up, opened by its URL, and a place to answer to.

The user's code is imported only where it names the store, and nothing is set up or upgraded on the
way: an operator who mistypes a URL must not leave an empty store behind.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from sempre.app import Sempre, StoredSchedule
from sempre.cli.failing import Code, Failure
from sempre.cli.printing import Output, talk
from sempre.cli.store_choice import Choice, refuse_absent, upgrade_of
from sempre.cli.times import shown, zone_of
from sempre.domain.unreadable import Unreadable
from sempre.engine.events import Event, Happened
from sempre.errors import NotFound, StoreGone
from sempre.grids.grid import Grid
from sempre.grids.relative_instants import read_in_zone
from sempre.ports.messages import Reading, View
from sempre.ports.store import Store
from sempre.urls import open_store

__all__ = ["Desk", "desk"]

T = TypeVar("T")


@dataclass(frozen=True)
class Desk:
    """What an operating command works with.

    Attributes:
        unread: rows that were met and cannot be read here, in that order.
    """

    app: Sempre
    output: Output
    unread: list[Unreadable] = field(default_factory=list)

    @property
    def store(self) -> Store:
        """The store."""
        return self.app.engine.store

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        return self.app.engine.time.now()

    @property
    def redact(self) -> tuple[str, ...]:
        """Further names whose values are masked where they are shown, from the settings."""
        return self.app.settings.redact

    def read(self, reading: Reading[T]) -> T:
        """Return the value of a reading and note the store's now."""
        return self.app.engine.read(reading)

    def read_one(self, reading: Reading[list[T]]) -> T | None:
        """Return the one value that was asked for; UnreadableRow if it cannot be read here."""
        return self.app.engine.read_one(reading)

    def handles(self, names: Iterable[str]) -> list[StoredSchedule]:
        """Return schedules by name; NotFound, before anything is changed, if one is missing."""
        handles = [self.app.schedule(name) for name in dict.fromkeys(names)]
        for handle in handles:
            _ = handle.row
        return handles

    def view(self, name: str) -> View:
        """Return a schedule and its rows; NotFound, with the nearest name, if there is none."""
        [handle] = self.handles([name])
        view = self.read_one(self.store.views([handle.name]))
        if view is None:
            raise NotFound("schedule", name)
        return view

    def shown(self, instant: datetime, grid: Grid | None = None) -> str:
        """Write an instant on the clocks of a grid's zone, or of UTC if that is asked for."""
        zone = zone_of(grid, self.app.settings.timezone)
        return shown(instant, self.output.zone(zone), now=self.now)

    def instant(self, field: str, text: str) -> datetime:
        """Return the instant that somebody typed, by the clocks of the application."""
        return read_in_zone(field, text, self.app.settings.timezone)


@contextmanager
def desk(choice: Choice, output: Output) -> Iterator[Desk]:
    """Open the store that was chosen, and close it.

    Raises:
        Failure: there is no store, or it is not set up, or lives in another process only.
    """
    refuse_absent(choice)
    _refuse_unready(choice.settings.store)
    app = Sempre.with_settings(choice.settings)
    app.events.listen(_warn, Happened.BROKER_DOWN)
    place = Desk(app, output)
    app.events.listen(lambda event: place.unread.append(event.facts["row"]), Happened.UNREADABLE)
    try:
        yield place
        _warn_of_unread(place)
    finally:
        app.close()


def _refuse_unready(url: str) -> None:
    store = open_store(url)
    try:
        _ = store.uuid
    except StoreGone as error:
        raise Failure(str(error), code=Code.UNREACHABLE, advice=upgrade_of(url)) from error
    finally:
        store.close()


def _warn_of_unread(desk: Desk) -> None:
    """Say what was left out, once for all rows of a name."""
    for name, row in {each.name: each for each in desk.unread}.items():
        talk(f"warning: {name} is left out: {row}")


def _warn(event: Event) -> None:
    error = event.facts.get("error", "")
    talk(f"warning: the broker does not answer ({error}); workers find the work at their sweep.")
