"""Probe of a Redis server: which servers are refused, and which promises are weaker on others.

The probe reads INFO, which every user may read. Hosted servers often forbid CONFIG, so the probe
reads CONFIG only for settings that INFO lacks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sempre.errors import StoreRefused

__all__ = ["Allowance", "examine"]

OLDEST = (6, 2)


@dataclass(frozen=True)
class Allowance:
    """Which unsafe settings of a server the user explicitly accepts."""

    eviction: bool = False
    no_aof: bool = False
    replica: bool = False


def examine(
    info: Mapping[str, Any], setting: Callable[[str], str], allowed: Allowance
) -> tuple[str, ...]:
    """Return the promises that are weaker on a server, each as a sentence.

    Raises:
        StoreRefused: the server is too old, or has an unsafe setting that was not accepted.
    """
    version = str(info.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise StoreRefused(f"Redis {version} is too old: 6.2 or newer, or Valkey, is needed.")
    weaker = [
        *_eviction(str(info.get("maxmemory_policy", "unknown")), allowed=allowed.eviction),
        *_log(enabled=bool(int(info.get("aof_enabled", 0))), allowed=allowed.no_aof),
        *_role(str(info.get("role", "unknown")), allowed=allowed.replica),
    ]
    if int(info.get("connected_slaves", 0)):
        weaker.append(
            "it has replicas: what a replica has not received may be lost when it takes over, so "
            "it may start again."
        )
    if int(info.get("aof_enabled", 0)) and (sync := setting("appendfsync")) != "always":
        weaker.append(
            f"appendfsync is {sync or 'unknown'}: what was acknowledged in the last seconds before "
            f"a crash of the server may be lost, so it may start again. "
            f"CONFIG SET appendfsync always"
        )
    return tuple(weaker)


def _eviction(policy: str, *, allowed: bool) -> list[str]:
    if policy == "noeviction":
        return []
    return _weaker(
        f"its maxmemory-policy is {policy}, so that it may drop schedules when memory is full",
        "CONFIG SET maxmemory-policy noeviction",
        "allow_eviction",
        allowed=allowed,
    )


def _log(*, enabled: bool, allowed: bool) -> list[str]:
    if enabled:
        return []
    return _weaker(
        "it keeps no append-only file, so that a restart loses what was acknowledged",
        "CONFIG SET appendonly yes",
        "allow_no_aof",
        allowed=allowed,
    )


def _role(role: str, *, allowed: bool) -> list[str]:
    if role == "master":
        return []
    return _weaker(
        f"its role is {role}: it repeats what another server decides",
        "Give the address of the primary, or REPLICAOF NO ONE",
        "allow_replica",
        allowed=allowed,
    )


def _weaker(fault: str, remedy: str, keyword: str, *, allowed: bool) -> list[str]:
    if allowed:
        return [f"{fault}."]
    raise StoreRefused(
        f"this server must not be a store: {fault}. {remedy} (and in its configuration file), "
        f"or accept it with ?{keyword}=1 in the store URL."
    )
