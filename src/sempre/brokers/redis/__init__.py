"""Redis or Valkey as the bell: sorted sets for what waits, a script for each operation."""

from sempre.brokers.redis.broker import RedisBroker

__all__ = ["RedisBroker"]
