"""The context of a command: the store that it operates on, and its output.

The user's code is imported only where it names the store. No command but `db upgrade` sets a store
up: an operator who mistypes a URL must not leave an empty store behind.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from sempre.app import Sempre, StoredSchedule
from sempre.app.times import format_instant, zone_of
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.execution_ids import resolved_id
from sempre.cli.output import Output, inform
from sempre.cli.store_choice import Choice, refuse_absent, upgrade_of
from sempre.config import Settings
from sempre.domain.execution import Execution
from sempre.domain.unreadable import Unreadable
from sempre.engine.core import Engine
from sempre.engine.events import Event, Happened
from sempre.errors import NotFound, StoreGone
from sempre.grids.grid import Grid
from sempre.grids.relative_instants import read_in_zone
from sempre.ports.messages import ExecutionQuery, Reading, Session, View
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = ["CommandContext", "open_context"]

T = TypeVar("T")


@dataclass(frozen=True)
class CommandContext:
    """The application, store and output of a command that operates on a store.

    Attributes:
        app: an application on the store, without the user's code.
        unread: rows that queries returned and this process cannot read.
    """

    app: Sempre
    output: Output
    unread: list[Unreadable] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        """The engine of the store."""
        return self.app.engine

    @property
    def settings(self) -> Settings:
        """The settings of the application."""
        return self.app.settings

    @property
    def store(self) -> Store:
        """The store that the command operates on."""
        return self.app.engine.store

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        return self.app.engine.time.now()

    @property
    def redact(self) -> tuple[str, ...]:
        """Names whose values are masked, from the settings."""
        return self.app.settings.redact

    def read(self, reading: Reading[T]) -> T:
        """Return the value of a reading, and keep its time as the present."""
        return self.app.engine.read(reading)

    def read_one(self, reading: Reading[list[T]]) -> T | None:
        """Return the one value of a reading; UnreadableRow if this process cannot read its row."""
        return self.app.engine.read_one(reading)

    def schedules(self, names: Iterable[str]) -> list[StoredSchedule]:
        """Return schedules by name; NotFound, before any change, if one is missing."""
        found = [self.app.schedule(name) for name in dict.fromkeys(names)]
        for schedule in found:
            _ = schedule.row
        return found

    def view(self, name: str) -> View:
        """Return a schedule and its rows; NotFound, with the nearest name, if it is missing."""
        [schedule] = self.schedules([name])
        view = self.read_one(self.store.views([schedule.name]))
        if view is None:
            raise NotFound("schedule", name)
        return view

    def executions(self, query: ExecutionQuery) -> Iterator[Execution]:
        """Return an iterator of all executions of a query, read page by page."""
        return walk_pages(
            lambda after: self.read(self.store.executions(replace(query, after=after)))
        )

    def live_sessions(self) -> list[Session]:
        """Return the sessions of workers that hold their lease."""
        reading = self.store.sessions()
        return [each for each in self.read(reading) if each.is_leased_beyond(reading.now)]

    def shown(self, instant: datetime, grid: Grid | None = None) -> str:
        """Return an instant as text in the zone of a grid, or in UTC with --utc."""
        zone = zone_of(grid, self.app.settings.timezone)
        return format_instant(instant, self.output.zone(zone), now=self.now)

    def choose_zone(self, grids: Iterable[Grid]) -> None:
        """Choose the one zone of all tables of this command, unless it was chosen before.

        It is UTC with --utc, the `timezone` of the application, the only zone of these grids
        besides UTC, or UTC. A line at the end of the command names the zone.
        """
        if self.output.table_zone:
            return
        # UTC is the zone of grids without one, such as `every 10 seconds`.
        zones = {zone_of(grid) for grid in grids} - {"UTC"}
        only = zones.pop() if len(zones) == 1 else "UTC"
        self.output.table_zone = self.output.zone(self.app.settings.timezone or only)

    def shown_in_table(self, instant: datetime) -> str:
        """Return an instant as text in the zone of all tables; a pipe gets a label with each."""
        output = self.output
        output.has_times = True
        labelled = output.width is None
        return format_instant(instant, output.table_zone or "UTC", now=self.now, labelled=labelled)

    def report_zone(self) -> None:
        """Print the zone of the times that tables have shown, on stderr."""
        if self.output.has_times:
            self.output.has_times = False
            zone = self.output.table_zone or "UTC"
            inform(f"times: {zone}" + ("" if zone == "UTC" else " (--utc)"))

    def execution_id(self, text: str) -> str:
        """Return the id of the one execution whose id begins with a text.

        Raises:
            NotFound: no id begins with the text.
            Failure: several ids begin with it; the candidates are shown.
        """
        return resolved_id(self, text)

    def instant(self, field: str, text: str) -> datetime:
        """Return the instant of an option; without a zone, in the zone of the application."""
        return read_in_zone(field, text, self.app.settings.timezone)


@contextmanager
def open_context(choice: Choice, output: Output) -> Iterator[CommandContext]:
    """Open the chosen store for a command, and close it.

    Raises:
        Failure: the store does not exist, is not set up, or lives in another process only.
    """
    refuse_absent(choice)
    app = Sempre.with_settings(choice.settings)
    app.composition.sets_up = False
    context = CommandContext(app, output)
    app.events.listen(_warn_of_broker, Happened.BROKER_DOWN)
    app.events.listen(lambda event: context.unread.append(event.facts["row"]), Happened.UNREADABLE)
    try:
        _refuse_unready(app)
        yield context
        context.report_zone()
        # Once for all rows of a name.
        for name, row in {each.name: each for each in context.unread}.items():
            inform(f"warning: {name} is left out: {row}")
    finally:
        app.close()


def _refuse_unready(app: Sempre) -> None:
    """Open the store of an application; raise Failure if the store is not set up."""
    try:
        _ = app.engine
    except StoreGone as error:
        advice = upgrade_of(app.settings.store)
        raise Failure(str(error), code=ExitCode.UNREACHABLE, advice=advice) from error


def _warn_of_broker(event: Event) -> None:
    error = event.facts.get("error", "")
    inform(f"warning: the broker does not answer ({error}); workers find the work at their sweep.")
