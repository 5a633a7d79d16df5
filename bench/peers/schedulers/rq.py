"""rq-scheduler, which looks every second, and a worker of RQ that does not fork."""

from time import perf_counter

import redis
from rq import Queue, SimpleWorker
from rq_scheduler import Scheduler

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told


def noop() -> None:
    mark()


def run() -> None:
    connection = redis.Redis.from_url(told("url"))
    scheduler = Scheduler(connection=connection, queue=Queue(connection=connection), interval=1)
    first, count, begin = rule().at.replace(tzinfo=None), told("count"), perf_counter()
    for number in range(count):
        scheduler.schedule(first, noop, interval=86400, id=f"s{number}", result_ttl=86400)
    say(registered=perf_counter() - begin, count=scheduler.count())
    scheduler.run()


def work() -> None:
    connection = redis.Redis.from_url(told("url"))
    queue = Queue(connection=connection)
    SimpleWorker([queue], connection=connection).work(logging_level="WARNING")
