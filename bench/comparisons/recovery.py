"""A broker that has lost everything: how fast all waiting executions are rung again.

No peer does it at all; beside ours is the bare protocol, which puts as many messages, pipelined.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import redis

from bench.brokers import put_beanstalkd, put_redis
from bench.measuring import Comparison, Contestant, Figure, Numbers, Target, check_count
from bench.servers import Place
from sempre import Sempre
from sempre.brokers.beanstalkd_wire import Address, Wire

__all__ = ["recovery"]

FIGURES = (Figure("Redis", "executions/s"), Figure("Beanstalkd", "executions/s"))


def recovery(place: Place) -> Comparison:
    """100,000 executions wait in PostgreSQL; then the broker is empty."""
    ours = Contestant("Sempre", partial(_ours, place), 100_000)
    bare = Contestant("bare pipelined put", partial(_bare, place), 100_000, "limit")
    targets = [Target("T10", bare.name, figure.name, 0.5) for figure in FIGURES]
    title = "Recovery of a broker that has lost everything"
    return Comparison(title, FIGURES, ours, [bare], targets, "No peer rings again at all.")


def _ours(place: Place, count: int) -> Numbers:
    url = place.flushed_redis()
    return {
        "Redis": _recovered(place, url, count, lambda: place.flushed_redis() and url),
        "Beanstalkd": _recovered(place, place.fresh_beanstalkd(), count, place.fresh_beanstalkd),
    }


def _recovered(place: Place, broker: str, count: int, lost: Callable[[], str]) -> float:
    """Return how many executions were rung again a second, after the broker was lost."""
    database = place.fresh_database()
    with_all = _waiting(Sempre(database, broker=broker), count)
    with_all.watchdog.perform()
    with_all.close()
    app = Sempre(database, broker=lost())
    _ = app.engine
    begin = perf_counter()
    report = app.watchdog.force()
    seconds = perf_counter() - begin
    app.close()
    check_count(report.rung_again, count, "executions rung again")
    return count / seconds


def _waiting(app: Sempre, count: int) -> Sempre:
    @app.job
    def noop() -> None: ...

    app.enqueue_many((noop.bind() for _ in range(count)), delay="1h")
    return app


def _bare(place: Place, count: int) -> Numbers:
    with redis.Redis.from_url(place.flushed_redis(), decode_responses=True) as client:
        hares = _rate(lambda: put_redis(client, "bare", count), count)
        check_count(int(client.zcard("delayed:bare")), count, "messages")
    host, port = place.fresh_beanstalkd().removeprefix("beanstalkd://").split(":")
    wire = Wire(Address(host=host, port=int(port)), connect_after=5, answer_after=60)
    stalks = _rate(lambda: put_beanstalkd(wire, "bare", count), count)
    wire.close()
    return {"Redis": hares, "Beanstalkd": stalks}


def _rate(work: Callable[[], object], count: int) -> float:
    begin = perf_counter()
    work()
    return count / (perf_counter() - begin)
