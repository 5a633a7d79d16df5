"""Times the brokers beside the bare protocol of their servers and prints ratios.

Rounds are interleaved (ours, bare, ours, bare, ...), so that a busy machine slows both. The bare
side sends the same commands in one write and only counts the answers: it knows no lanes, no
receipts, no other threads, and cannot fail in any useful way.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from threading import Event
from time import perf_counter
from uuid import uuid4

import redis

from sempre.brokers.beanstalkd import BeanstalkdBroker
from sempre.brokers.beanstalkd_wire import Address, Wire
from sempre.brokers.redis import RedisBroker
from sempre.ports.broker import Broker, Message
from tools.servers import environment, locate

BODY = json.dumps([str(uuid4()), str(uuid4()), 0])
BATCH = 500
TARGET = 0.5
Work = Callable[[str, int], None]


@dataclass(frozen=True)
class Row:
    """Messages a second by both, and how much of the bare rate is ours."""

    what: str
    ours: float
    bare: float
    ratio: float
    median: float


@contextmanager
def serving(program: str, *flags: str, socket: Path) -> Iterator[None]:
    found = locate(program)
    if found is None:
        sys.exit(f"{program} is not installed; run make servers")
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [str(found), *flags], env=environment(), stdout=quiet, stderr=quiet
    ) as process:
        try:
            while not socket.exists():
                Event().wait(0.01)
            yield
        finally:
            process.kill()


# Ours


def put(broker: Broker, lane: str, count: int) -> None:
    messages = [Message(lane, BODY, delay=3600) for _ in range(count)]
    begin = perf_counter()
    broker.put(messages)
    SPENT.append(perf_counter() - begin)


def consume(broker: Broker, lane: str, count: int) -> None:
    broker.put([Message(lane, BODY) for _ in range(count)])
    begin = perf_counter()
    done = 0
    while done < count:
        found = broker.reserve([lane], limit=BATCH, wait=1)
        broker.acknowledge(found)
        done += len(found)
    SPENT.append(perf_counter() - begin)


# The bare protocol


def put_beanstalkd(wire: Wire, lane: str, count: int) -> None:
    wire.ask([b"use %b\r\n" % lane.encode()])
    wire.ask([b"put 1000 3600 120 %d\r\n%b\r\n" % (len(BODY), BODY.encode())] * count)


def consume_beanstalkd(wire: Wire, lane: str, count: int) -> None:
    wire.ask([b"use %b\r\n" % lane.encode(), b"watch %b\r\n" % lane.encode()])
    wire.ask([b"put 1000 0 120 %d\r\n%b\r\n" % (len(BODY), BODY.encode())] * count)
    begin = perf_counter()
    for start in range(0, count, BATCH):
        asked = min(BATCH, count - start)
        jobs = wire.ask([b"reserve-with-timeout 0\r\n"] * asked)
        wire.ask([b"delete %b\r\n" % job.rest[0].encode() for job in jobs])
    SPENT.append(perf_counter() - begin)


def put_redis(client: "redis.Redis", lane: str, count: int) -> None:
    for start in range(0, count, 1000):
        pipeline = client.pipeline(transaction=False)
        for number in range(start, min(start + 1000, count)):
            pipeline.hset(f"bodies:{lane}", str(number), BODY)
            pipeline.zadd(f"delayed:{lane}", {str(number): number})
        pipeline.execute()


def consume_redis(client: "redis.Redis", lane: str, count: int) -> None:
    put_redis(client, lane, count)
    begin = perf_counter()
    for start in range(0, count, BATCH):
        asked = min(BATCH, count - start)
        ids = [str(each[0]) for each in client.zpopmin(f"delayed:{lane}", asked)]
        pipeline = client.pipeline(transaction=False)
        pipeline.hmget(f"bodies:{lane}", ids)
        pipeline.zadd(f"reserved:{lane}", dict.fromkeys(ids, 1))
        pipeline.execute()
        pipeline = client.pipeline(transaction=False)
        pipeline.hdel(f"bodies:{lane}", *ids)
        pipeline.zrem(f"reserved:{lane}", *ids)
        pipeline.execute()
    SPENT.append(perf_counter() - begin)


SPENT: list[float] = []


def duel(what: str, ours: Work, bare: Work, *, count: int, rounds: int) -> Row:
    times: list[tuple[float, float]] = []
    for number in range(rounds):
        pair = [timed(work, f"bench.{what}.{number}.{uuid4()}", count) for work in (ours, bare)]
        times.append((pair[0], pair[1]))
    best_ours, best_bare = (min(column) for column in zip(*times, strict=True))
    ratios = [bare_time / our_time for our_time, bare_time in times]
    return Row(what, count / best_ours, count / best_bare, best_bare / best_ours, median(ratios))


def timed(work: Work, lane: str, count: int) -> float:
    """Return how long a round took; what it measured itself counts instead."""
    SPENT.clear()
    lane = lane.replace(" ", "-")
    begin = perf_counter()
    work(lane, count)
    return SPENT[0] if SPENT else perf_counter() - begin


def measure(folder: Path, *, count: int, rounds: int) -> list[Row]:
    tube, store = folder / "beanstalkd.sock", folder / "redis.sock"
    flags = ("--port", "0", "--unixsocket", str(store), "--save", "", "--dir", str(folder))
    with (
        serving("beanstalkd", "-l", f"unix:{tube}", socket=tube),
        serving("redis-server", *flags, socket=store),
    ):
        address = Address(path=str(tube))
        stalk, hare = BeanstalkdBroker(address), RedisBroker(f"unix://{store}")
        wire = Wire(address, connect_after=5, answer_after=30)
        client = redis.Redis(unix_socket_path=str(store), decode_responses=True)
        options = {"count": count, "rounds": rounds}
        return [
            duel(
                "beanstalkd put",
                lambda lane, count: put(stalk, lane, count),
                lambda lane, count: put_beanstalkd(wire, lane, count),
                **options,
            ),
            duel(
                "beanstalkd reserve and acknowledge",
                lambda lane, count: consume(stalk, lane, count),
                lambda lane, count: consume_beanstalkd(wire, lane, count),
                **options,
            ),
            duel(
                "redis put",
                lambda lane, count: put(hare, lane, count),
                lambda lane, count: put_redis(client, lane, count),
                **options,
            ),
            duel(
                "redis reserve and acknowledge",
                lambda lane, count: consume(hare, lane, count),
                lambda lane, count: consume_redis(client, lane, count),
                **options,
            ),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer messages and rounds")
    parser.add_argument("--json", action="store_true", help="for machines")
    given = parser.parse_args()
    count, rounds = (5_000, 3) if given.quick else (20_000, 7)
    with tempfile.TemporaryDirectory(prefix="sempre-bench-") as folder:
        rows = measure(Path(folder), count=count, rounds=rounds)
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print(f"{'':36}{'ours/s':>10}{'bare/s':>10}{'ratio':>8}{'median':>9}")
    for row in rows:
        figures = f"{row.ours:10,.0f}{row.bare:10,.0f}{row.ratio:8.2f}{row.median:9.2f}"
        print(f"{row.what:36}{figures}")
    print(f"Target: a put at {TARGET:.0%} of the bare rate or better.")


if __name__ == "__main__":
    main()
