"""huey on Redis: periodic tasks are declared in code, and looked at every minute from its start."""

from threading import Event
from time import perf_counter, time

from huey import RedisHuey, crontab

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told

MINUTE = 60.0
huey = RedisHuey("bench", url=told("url"), results=False)


def _noop() -> None:
    mark()


def run() -> None:
    at, count, begin = rule().at, told("count"), perf_counter()
    when = crontab(minute=str(at.minute), hour=str(at.hour))
    for number in range(count):
        huey.periodic_task(when, name=f"s{number}")(_noop)
    registered = perf_counter() - begin
    if told("burst"):
        # It looks every minute from when it starts: let that be when they are due.
        Event().wait(max(0.0, told("due") - MINUTE - time()) + 0.05)
    say(registered=registered, count=count)
    huey.create_consumer(workers=1, worker_type="thread").run()
