"""All comparisons by name; each is made when it is run, as it needs servers."""

from collections.abc import Callable
from functools import partial

from bench.comparisons import (
    anchors,
    forking,
    growth,
    occurrences,
    queues,
    recovery,
    recurring,
    starting,
    steady,
    waking,
)
from bench.measuring import Comparison
from bench.servers import Place

__all__ = ["COMPARISONS", "QUICK"]

COMPARISONS: dict[str, Callable[[Place], Comparison]] = {
    "occurrences": occurrences.occurrences,
    "anchors": anchors.anchors,
    "postgresql": queues.postgresql,
    "sqlite": queues.sqlite,
    "redis": queues.redis,
    "redis-store": queues.redis_store,
    "beanstalkd": queues.beanstalkd,
    "waking-postgresql": waking.postgresql,
    "waking-sqlite": waking.sqlite,
    "waking-redis": waking.redis,
    "waking-mariadb": waking.mariadb,
    "burst-1k": partial(recurring.burst, 1_000),
    "burst-10k": partial(recurring.burst, 10_000),
    "burst-100k": partial(recurring.burst, 100_000),
    "idle-1k": partial(recurring.idle, 1_000),
    "idle-10k": partial(recurring.idle, 10_000),
    "idle-100k": partial(recurring.idle, 100_000),
    "steady": steady.steady,
    "recovery": recovery.recovery,
    "passes": growth.passes,
    "idling": growth.idling,
    "bursting": growth.bursting,
    "fork": forking.forking,
    "start-up": starting.starting,
}
SLOW = (
    "redis-store",
    "beanstalkd",
    "idle-10k",
    "burst-1k",
    "burst-100k",
    "idle-1k",
    "idle-100k",
    "idling",
    "bursting",
)
QUICK = tuple(name for name in COMPARISONS if name not in SLOW)
