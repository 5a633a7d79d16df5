"""Sempre with its defaults: schedules created in bulk, then a supervised worker."""

from time import perf_counter

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told
from sempre import Cron, Sempre

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
