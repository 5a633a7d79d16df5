"""Pairs: a job, and the query over the user's tables that derives which runs should exist.

`job.enqueue(7)` is the fast path; the pair is the guarantee. The next run of the query finds in the
tables whatever was never enqueued, or was lost with a queue, and enqueues it.

A pair is a schedule `pair:<job>` like any other: the watchdog guarantees it and workers run it. Do
not use one for work that cannot be derived from state (an e-mail that no row asks for), for a job
that is not idempotent, or for state in several databases: no single query can derive that.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sempre.app.jobs import Job, is_async
from sempre.app.options import CronPairOptions, DeclarationOptions, EveryPairOptions
from sempre.app.pairs.sources import Database
from sempre.domain.pair import cadence_of, pair_name
from sempre.domain.policies import check_count
from sempre.errors import PolicyError
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Backoff

__all__ = ["PAIR_OPTIONS", "Pair", "Query", "read_pair"]

Query = Callable[..., object]
LONGEST_WAIT = timedelta(hours=1)
SECOND = timedelta(seconds=1)
PAIR_OPTIONS = frozenset(
    {*EveryPairOptions.__annotations__, *CronPairOptions.__annotations__}
) - frozenset(DeclarationOptions.__annotations__)


@dataclass(frozen=True)
class Pair:
    """The pair of a job, as code declares it.

    Attributes:
        query: returns the runs that should exist; it may take `shard` and `shards`.
        grid: when the query runs.
        spread: the length of time over which the starts of found runs are spread.
        batch: how many runs are read and enqueued at a time.
        shards: the number of schedules among which the query is divided.
        contract: a second query: everything unfinished for longer than `slo`.
        slo: passed to the contract, if it takes `slo`.
        database: where SQL text runs; by default the database of the store.
    """

    job: Job[..., Any]
    query: Query
    grid: Grid
    spread: timedelta = timedelta(0)
    batch: int = 1000
    shards: int = 1
    contract: Query | None = None
    slo: timedelta | None = None
    database: Database | None = None

    def __post_init__(self) -> None:
        """Refuse an async query, and one that cannot be divided among its shards."""
        for query in filter(None, (self.query, self.contract)):
            if is_async(query):
                raise PolicyError("pair", query.__name__, allowed="a def, not an async def")
            if self.shards > 1 and "shard" not in inspect.signature(query).parameters:
                allowed = "a function of `shard`, and perhaps `shards`, as it has several"
                raise PolicyError("pair", query.__name__, allowed=allowed)

    @property
    def names(self) -> Sequence[str]:
        """The names of the schedules of the pair, one for each shard."""
        if self.shards == 1:
            return [pair_name(self.job.name)]
        return [pair_name(self.job.name, shard) for shard in range(self.shards)]

    def backoff(self, at: datetime) -> Backoff:
        """Return how long a key is refused after a failure, for a run at an instant."""
        return Backoff(min(cadence_of(self.grid, at), LONGEST_WAIT), LONGEST_WAIT)

    def call(self, query: Query, shard: int) -> object:
        """Call the query or the contract for one shard, with the parameters that it takes."""
        given = {"shard": shard, "shards": self.shards, "slo": self.slo}
        taken = inspect.signature(query).parameters
        return query(**{name: value for name, value in given.items() if name in taken})


def read_pair(job: Job[..., Any], query: Query, given: Mapping[str, Any]) -> Pair:
    """Return a pair from the options that a user wrote; InvalidInput names the option."""
    read: dict[str, Any] = {"grid": _read_grid(given)}
    for name in ("spread", "slo"):
        if given.get(name) is not None:
            read[name] = read_duration(name, given[name])
    for name in ("batch", "shards"):
        if name in given:
            read[name] = check_count(name, given[name], least=1)
    read |= {name: given[name] for name in ("contract", "database") if name in given}
    return Pair(job, query, **read)


def _read_grid(given: Mapping[str, Any]) -> Grid:
    """Return when a pair runs, from `every` or from `cron` and `timezone`."""
    every, cron, zone = (given.get(name) for name in ("every", "cron", "timezone"))
    if every is None and cron is None:
        raise PolicyError("pair", None, allowed='every="1m" or cron="*/5 * * * *"')
    if every is not None and cron is not None:
        raise PolicyError("cron", cron, allowed="every= or cron=, not both")
    if cron is not None:
        return Cron(cron, **({} if zone is None else {"timezone": zone}))
    if zone is not None:
        raise PolicyError("timezone", zone, allowed="a time zone for cron= only")
    return Every(read_duration("every", every, least=SECOND))
