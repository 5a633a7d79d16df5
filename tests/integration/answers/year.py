"""A year of an application on virtual time, and the test's own record of what was done to it.

The record has every call of a job and every act of the operator. Nothing in the record is read
from the store.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sempre import Cron, Every, Retry, Sempre, current
from sempre.domain.states import Kind
from sempre.engine.core import Engine
from sempre.grids.grid import Grid
from sempre.testing import TimeTravel

__all__ = ["START", "TOLERANCE", "Call", "Schedule", "Stop", "Year", "utc"]

START = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
TOLERANCE = timedelta(minutes=2)
FAR = datetime(2100, 1, 1, tzinfo=UTC)


def utc(text: str) -> datetime:
    """Return an instant of 2026, such as "02-03 05:10"."""
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


class Call(NamedTuple):
    """One call of a job, as the job saw it."""

    name: str
    slot: datetime
    kind: Kind
    attempt: int
    at: datetime
    length: timedelta
    failed: bool


class Stop(NamedTuple):
    """A time in which slots of a schedule did not run, and why."""

    why: str
    since: datetime
    until: datetime

    def covers(self, instant: datetime) -> bool:
        """Return whether an instant lies in this time."""
        return self.since <= instant < self.until


@dataclass
class Schedule:
    """What the test set a schedule to, and did to it."""

    name: str
    grids: list[tuple[datetime, Grid]]
    catch_up: bool = False
    jitter: timedelta = timedelta(0)
    retries: int = 0
    until: datetime | None = None
    limit: int | None = None
    stops: list[Stop] = field(default_factory=list)
    skipped: set[datetime] = field(default_factory=set)
    retried: set[datetime] = field(default_factory=set)
    discarded: set[datetime] = field(default_factory=set)

    def slots(self, after: datetime, until: datetime) -> list[datetime]:
        """Return the slots of the grids that were in force, up to the end of the schedule."""
        ends = [*(since for since, _ in self.grids[1:]), until]
        found = [
            slot
            for (since, grid), end in zip(self.grids, ends, strict=True)
            for slot in grid.between(since, min(end, until))
            if self.until is None or slot <= self.until
        ]
        return [slot for slot in found[: self.limit] if slot > after]


class Year:
    """The application, its schedules, and the record of the year."""

    def __init__(self, *, busy: bool) -> None:
        """Declare the schedules; a busy year has more slots."""
        self.app = Sempre("memory://", retention="45d", action_retention="800d")
        self.calls: list[Call] = []
        self.schedules: dict[str, Schedule] = {}
        self.outages: list[Stop] = []
        self.is_provider_up = True
        self.length: dict[str, timedelta] = {}
        self._declare(busy=busy)

    def _declare(self, *, busy: bool) -> None:
        nightly, rome = "30 2 * * *", "Europe/Rome"
        quick, often = ("15m", "1h") if busy else ("8h", "12h")
        anchor = "2026-01-31 09:00"
        self.add("bill", Cron(nightly, timezone=rome), catch_up=True)
        self.add("southern", Cron(nightly, timezone="Australia/Sydney"))
        self.add("quick", Every(quick, anchor="2026-01-01 00:00Z"))
        self.add("invoice", Every("1 month", anchor=anchor, timezone=rome), catch_up=True)
        self.add("jittered", Every(often, anchor="2026-01-01 00:00Z"), jitter="10m")
        patient = {"catch_up": True, "overlap": "wait", "timeout": "20h"}
        self.add("slow", Every("12h", anchor="2026-01-01 03:00Z"), **patient)
        self.add("finite", Cron("0 12 * * *"), until="2026-06-30 12:00Z")
        self.add("limited", Cron("15 13 * * *", timezone=rome), limit=40)
        self.add("charges", Every("8h", anchor="2026-01-01 01:00Z"), retry=Retry(2, base="5m"))
        self.app.job(name="shop")(self._work)

    def add(self, name: str, grid: Grid, **options: object) -> None:
        """Declare a schedule, and record its definition."""
        job = self.app.job(name=name)(self._work)
        self.app.add(name, grid, job, tolerance=TOLERANCE, **options)  # type: ignore[arg-type]
        retry, until = options.get("retry"), options.get("until")
        limit = options.get("limit")
        self.schedules[name] = Schedule(
            name,
            [(START, grid)],
            catch_up=bool(options.get("catch_up")),
            jitter=timedelta(minutes=10) if "jitter" in options else timedelta(0),
            retries=retry.limit if isinstance(retry, Retry) else 0,
            until=datetime.fromisoformat(until) if isinstance(until, str) else None,
            limit=limit if isinstance(limit, int) else None,
        )

    def _work(self) -> None:
        run = current()
        name = run.name
        failed = self.fails(name, run.slot, run.attempt)
        length = self.length.get(name, timedelta(0))
        self.calls.append(
            Call(name, run.slot, run.kind, run.attempt, self.travel.now, length, failed)
        )
        if failed:
            raise ConnectionError("the provider does not answer")

    def fails(self, name: str, slot: datetime, attempt: int) -> bool:
        """Return whether the provider refuses a charge: a day in five once, one in seven always."""
        if name != "charges":
            return False
        day = slot.timetuple().tm_yday
        return (day % 7 == 0 and not self.is_provider_up) or (day % 5 == 0 and attempt == 1)

    # What happens to the application

    def begin(self, travel: TimeTravel) -> None:
        """Take the journey on which the application is."""
        self.travel = travel

    def to(self, text: str) -> None:
        """Travel to an instant of the year."""
        self.travel.travel_to(utc(text))

    def outage(self, text: str, hours: float) -> None:
        """Let no worker run from an instant on."""
        self.to(text)
        length = timedelta(hours=hours)
        stop = Stop("outage", self.travel.now, self.travel.now + length)
        self.outages.append(stop)
        for each in self.schedules.values():
            each.stops.append(stop)
        self.travel.outage(length)

    def lasts(self, name: str, length: str, hours: float) -> None:
        """Set how long runs of a job last from now on."""
        self.travel.takes(name, length)
        self.length[name] = timedelta(hours=hours)

    def off(self, name: str, why: str) -> None:
        """Record that a schedule stops now."""
        self.schedules[name].stops.append(Stop(why, self.travel.now, FAR))

    def on(self, name: str) -> None:
        """Record that a schedule goes on from now on."""
        stops = self.schedules[name].stops
        [last] = [each for each in stops if each.until == FAR]
        stops[stops.index(last)] = last._replace(until=self.travel.now)

    def pause(self, name: str) -> None:
        """Pause a schedule."""
        self.app.schedule(name).pause(note="inventory")
        self.off(name, "paused")

    def resume(self, name: str) -> None:
        """Resume a schedule."""
        self.app.schedule(name).resume()
        self.on(name)

    def disable(self, name: str) -> None:
        """Disable a schedule."""
        self.app.schedule(name).disable(why="contract ended")
        self.off(name, "disabled")

    def enable(self, name: str) -> None:
        """Enable a schedule."""
        self.app.schedule(name).enable()
        self.on(name)

    def switch_off(self, name: str, mode: str) -> None:
        """Switch a job off: its work is held or rejected."""
        self.app.switch(f"job:{name}").off("incident 42", mode=mode)  # type: ignore[arg-type]
        self.off(name, mode)

    def switch_on(self, name: str) -> None:
        """Switch a job on."""
        self.app.switch(f"job:{name}").on()
        self.on(name)

    def skip(self, name: str, slot: datetime) -> None:
        """Skip a slot to come."""
        assert self.app.schedule(name).skip(slot, why="holiday") == slot
        self.schedules[name].skipped.add(slot)

    def unskip(self, name: str, slot: datetime) -> None:
        """Take the skip of a slot back."""
        assert self.app.schedule(name).unskip(slot)
        self.schedules[name].skipped.remove(slot)

    def move(self, name: str, grid: Grid) -> None:
        """Put a schedule on another grid."""
        assert self.app.schedule(name).move_to(grid, why="less load")
        self.schedules[name].grids.append((self.travel.now, grid))

    def deploy(self, *, release: int, with_shop: bool) -> None:
        """Start a release of another application, with or without the schedule `shop`."""
        other = Sempre("memory://", owner="shop", release=release)
        grid = Cron("45 4 * * *", timezone="Australia/Sydney")
        job = other.job(name="shop")(self._work)
        other.add("till", Every("1 year", anchor="2030-01-01 00:00Z"), job, tolerance=TOLERANCE)
        if with_shop:
            other.add("shop", grid, job, tolerance=TOLERANCE)
        mine = self.app.engine
        engine = Engine(mine.store, mine.bell, other.settings, mine.clock, mine.events, mine.tzdata)
        with other.composition.working_on(engine):
            other.sync()
        if with_shop and "shop" not in self.schedules:
            self.schedules["shop"] = Schedule("shop", [(self.travel.now, grid)])
        elif with_shop:
            self.on("shop")
        else:
            self.off("shop", "deploy")
