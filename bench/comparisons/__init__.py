"""All comparisons by name; each is made when it is run, as it needs servers."""

from collections.abc import Callable

from bench.comparisons import queues
from bench.measuring import Comparison
from bench.servers import Place

__all__ = ["COMPARISONS", "QUICK"]

COMPARISONS: dict[str, Callable[[Place], Comparison]] = {
    "postgresql": queues.postgresql,
    "sqlite": queues.sqlite,
    "redis": queues.redis,
    "redis-store": queues.redis_store,
    "beanstalkd": queues.beanstalkd,
}
QUICK = ("postgresql", "sqlite", "redis", "beanstalkd")
