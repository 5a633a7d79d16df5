"""The desk: a store that is set up, opened by its URL, and a place to answer to.

Nothing of the user's code is imported here, and nothing is set up or upgraded on the way: an
operator who mistypes a URL must not leave an empty store behind.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from sempre.app import ScheduleHandle, Sempre
from sempre.cli.failing import Code, Failure
from sempre.cli.printing import Output, talk
from sempre.cli.times import shown, zone_of
from sempre.config import read_settings
from sempre.domain.unreadable import Unreadable
from sempre.engine.events import Event, Happened
from sempre.errors import NotFound, StoreGone
from sempre.grids.grid import Grid
from sempre.ports.messages import Reading, View
from sempre.ports.store import Store
from sempre.urls import file_of, masked, open_store

__all__ = ["Desk", "desk", "refuse_absent"]

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

    def handles(self, names: Iterable[str]) -> list[ScheduleHandle]:
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
        return shown(instant, self.output.zone(zone_of(grid)), now=self.now)


@contextmanager
def desk(store: str | None, broker: str | None, output: Output) -> Iterator[Desk]:
    """Open the store that the options, the environment or pyproject.toml name, and close it.

    Raises:
        Failure: there is no store, or it is not set up, or lives in another process only.
    """
    settings = read_settings({"store": store, "broker": broker})
    refuse_absent(settings.store)
    _refuse_unready(settings.store)
    app = Sempre(settings.store, broker=settings.broker or None)
    app.events.listen(_warn, Happened.BROKER_DOWN)
    place = Desk(app, output)
    app.events.listen(lambda event: place.unread.append(event.facts["row"]), Happened.UNREADABLE)
    try:
        yield place
        _warn_of_unread(place)
    finally:
        app.close()


def refuse_absent(url: str) -> None:
    """Raise Failure for a store that cannot be operated from here."""
    if url.startswith("memory:"):
        message = "a memory store lives in its own process and cannot be operated from outside."
        raise Failure(message, code=Code.USAGE, advice="sempre list --store sqlite:///jobs.db")
    path = file_of(url)
    if path is not None and not path.exists():
        message = f"there is no store at {masked(url)}: no file {path}."
        advice = f"sempre db upgrade --store {masked(url)}"
        raise Failure(message, code=Code.UNREACHABLE, advice=advice)


def _refuse_unready(url: str) -> None:
    store = open_store(url)
    try:
        _ = store.uuid
    except StoreGone as error:
        # What is shown of a server's URL has no account and no options.
        place = f" --store {masked(url)}" if file_of(url) else ", with the same --store"
        advice = f"sempre db upgrade{place}"
        raise Failure(str(error), code=Code.UNREACHABLE, advice=advice) from error
    finally:
        store.close()


def _warn_of_unread(desk: Desk) -> None:
    """Say what was left out, once for all rows of a name."""
    for name, row in {each.name: each for each in desk.unread}.items():
        talk(f"warning: {name} is left out: {row}")


def _warn(event: Event) -> None:
    error = event.facts.get("error", "")
    talk(f"warning: the broker does not answer ({error}); workers find the work at their sweep.")
