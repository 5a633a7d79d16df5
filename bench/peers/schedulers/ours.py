"""Sempre with its defaults: schedules created in bulk, then a supervised worker."""

from datetime import UTC, datetime, timedelta
from time import perf_counter, time

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told
from sempre import Cron, Every, Sempre, current

app = Sempre(told("url"), broker=told("broker"))


@app.job
def noop() -> None:
    mark()


def run() -> None:
    at, count = rule().at, told("count")
    grid = Cron(f"{at.second} {at.minute} {at.hour} * * *")
    _ = app.engine
    begin = perf_counter()
    created = app.create_schedules((f"s{number}", grid, noop) for number in range(count))
    registered = perf_counter() - begin
    app.close()
    say(registered=registered, count=sum(created))
    app.start()


@app.job
def note_lateness() -> None:
    mark(time() - current().due_at.timestamp())


def steady() -> None:
    """Run schedules whose instants lie evenly in a period."""
    period, count = timedelta(seconds=told("period")), round(told("rate") * told("period"))
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    grids = [Every(period, anchor=begin + period / count * number) for number in range(count)]
    created = app.create_schedules(
        (f"s{number}", grid, note_lateness) for number, grid in enumerate(grids)
    )
    app.close()
    say(count=sum(created))
    app.start()
