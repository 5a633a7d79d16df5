"""Pairs: a job, and the query over the user's own tables that derives which runs should exist.

`job.enqueue(7)` is the fast path; the pair is the guarantee. Whatever was never enqueued, or was
lost with a queue, is found in the tables and put in by the next run of the pair.

A pair is a schedule `pair:<job>` like any other, so the watchdog sees that it exists and workers
run it. Do not use one for work that cannot be derived from state (an e-mail that no row asks for),
for a job that is not idempotent, or if its state is spread over several databases: no one query
can then tell what should run.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sempre.app.enqueuing import Enqueuer, Manner
from sempre.app.jobs import Call, Job, is_async
from sempre.app.options import (
    CronPairOptions,
    DeclarationOptions,
    EveryPairOptions,
    Sending,
)
from sempre.app.receipts import Receipt
from sempre.app.sources import Database, Source, call_of
from sempre.app.transactions import transactional
from sempre.domain.arguments import Json
from sempre.domain.pair import POISON_AFTER, Scan, cadence_of, pair_name
from sempre.domain.policies import check_count
from sempre.domain.states import Kind
from sempre.domain.unique import Unique
from sempre.engine.events import Happened
from sempre.engine.ids import made_at
from sempre.errors import PolicyError, Skip
from sempre.executors.current import current
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Backoff

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["PAIR_OPTIONS", "Pair", "Query", "Scanner", "declare_pair", "read_pair"]

Query = Callable[..., object]
LONGEST_WAIT = timedelta(hours=1)
SECOND = timedelta(seconds=1)
PAIR_OPTIONS = frozenset(
    {*EveryPairOptions.__annotations__, *CronPairOptions.__annotations__}
) - frozenset(DeclarationOptions.__annotations__)


@dataclass(frozen=True)
class Pair:
    """A job's pair as it is declared.

    Attributes:
        query: returns what should run; with `shard` and `shards`, if it takes them.
        grid: when it is run.
        spread: over how long the starts of what it finds are spread.
        batch: how many are read and put in at a time.
        shards: among how many schedules the work of finding is divided.
        contract: returns everything that is unfinished for too long.
        slo: how long that is; the contract is called with it, if it takes `slo`.
        database: where SQL is run, unless in the store's own database.
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
        """Refuse a query that cannot be asked."""
        for asked in filter(None, (self.query, self.contract)):
            if is_async(asked):
                raise PolicyError("pair", asked.__name__, allowed="a def, not an async def")
            if self.shards > 1 and "shard" not in inspect.signature(asked).parameters:
                allowed = "a function of `shard`, and perhaps `shards`, as it has several"
                raise PolicyError("pair", asked.__name__, allowed=allowed)

    @property
    def names(self) -> Sequence[str]:
        """The names of its schedules."""
        if self.shards == 1:
            return [pair_name(self.job.name)]
        return [pair_name(self.job.name, shard) for shard in range(self.shards)]

    def backoff(self, at: datetime) -> Backoff:
        """Return how long a key is left alone after it has failed, for a run at an instant."""
        return Backoff(min(cadence_of(self.grid, at), LONGEST_WAIT), LONGEST_WAIT)

    def ask(self, query: Query, shard: int) -> object:
        """Ask a query for what belongs to a shard."""
        given = {"shard": shard, "shards": self.shards, "slo": self.slo}
        taken = inspect.signature(query).parameters
        return query(**{name: value for name, value in given.items() if name in taken})


def read_pair(job: Job[..., Any], query: Query, given: Mapping[str, Any]) -> Pair:
    """Return a pair from what a user wrote; InvalidInput names the option."""
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


def declare_pair(
    app: "Sempre", pair: Pair, done: Callable[..., object] | None, options: Mapping[str, Any]
) -> None:
    """Declare a pair: a job that runs the query, and a schedule for each shard of it.

    A job that has a pair and is not unique becomes so by all its arguments: what waits already is
    found again and again.
    """
    declared, name = app.declarations, pair.job.name
    policy = declared.policies[name]
    if policy.unique is None:
        declared.policies[name] = replace(policy, unique=Unique())
    if done is not None:
        declared.done[name] = done
    scan = app.job(name=pair_name(name))(Scanner(app, pair).run)
    for shard, schedule in enumerate(pair.names):
        app.add(schedule, pair.grid, scan.bind(shard) if shard else scan, **options)


class Scanner:
    """Runs a pair: asks, and puts in what is missing."""

    def __init__(self, app: "Sempre", pair: Pair) -> None:
        """Work on the store of an application."""
        self._app = app
        self._pair = pair

    def run(self, shard: int = 0) -> dict[str, Json]:
        """Derive which runs should exist, and put in those that do not; return what was found.

        Whatever the query raises ends the run as failed; what was put in before stays. A shard
        that an earlier release had is skipped.
        """
        clock, pair = self._app.clock, self._pair
        if shard >= pair.shards:
            name = pair_name(pair.job.name, shard)
            raise Skip(f"there are only {pair.shards} shards by now: sempre disable {name}")
        cadence = cadence_of(pair.grid, current().slot)
        began, scan = clock.elapsed(), Scan(cadence_s=cadence.total_seconds())
        seen = self._derive(scan, shard)
        if pair.contract is not None:
            self._check_contract(scan, pair.contract, shard, seen)
        scan.seconds = round(clock.elapsed() - began, 3)
        self._report(pair.names[shard], scan)
        return scan.to_json()

    def _report(self, name: str, scan: Scan) -> None:
        """Send what was found as an event, and each thing that is wrong as one more."""
        alarms = {
            Happened.PAIR_SCANNED: True,
            Happened.PAIR_UNCOVERED: bool(scan.uncovered),
            Happened.PAIR_FULL_SCAN: bool(scan.full_scans),
            Happened.PAIR_BEHIND: scan.is_behind,
        }
        for happened in (each for each, holds in alarms.items() if holds):
            self._app.events.tell(happened, pair=name, scan=scan)

    def _derive(self, scan: Scan, shard: int) -> set[int]:
        """Put in what the query finds; return hashes of it, if a contract is to be compared."""
        pair, seen = self._pair, set[int]()
        backoff = pair.backoff(current().slot)
        manner = Manner(Sending(), kind=Kind.DERIVED, spread=pair.spread, backoff=backoff)
        source, taken = self._source(), list[Call[Any]]()

        def calls() -> Iterator[Call[Any]]:
            for item in source.items(pair.ask(pair.query, shard)):
                taken.append(call_of(pair.job, item))
                yield taken[-1]

        for receipts in Enqueuer(self._app).send_many(calls(), manner, batch=pair.batch):
            found, taken[:] = list(taken), []
            self._note(scan, found, receipts)
            seen.update(hash(self._key(call)) for call in (found if pair.contract else ()))
            run = current()
            run.progress(scan.found)
            run.raise_if_cancelled()
        scan.full_scans = source.full_scans
        return seen

    def _note(
        self, scan: Scan, calls: Sequence[Call[Any]], receipts: Sequence[Receipt[Any]]
    ) -> None:
        now = self._app.engine.time.now()
        scan.found += len(receipts)
        for call, receipt in zip(calls, receipts, strict=True):
            if receipt.failures >= POISON_AFTER:
                scan.note_poison(self._key(call))
            if receipt.rejected_by:
                scan.rejected += 1
            elif receipt.waits_until is not None:
                scan.backing_off += 1
            elif receipt.created:
                scan.enqueued += 1
            else:
                scan.already_live += 1
                age = (now - made_at(receipt.id)).total_seconds()
                scan.oldest_s = max(scan.oldest_s, round(age, 3))

    def _check_contract(self, scan: Scan, contract: Query, shard: int, seen: set[int]) -> None:
        """Note what is unfinished for too long though the query did not find it just now."""
        for item in self._source().items(self._pair.ask(contract, shard)):
            key = self._key(call_of(self._pair.job, item))
            if hash(key) not in seen:
                scan.note_uncovered(key)

    def _key(self, call: Call[Any]) -> str:
        unique = self._app.declarations.policies[call.job.name].unique or Unique()
        return unique.key(call.job.name, call.job.complete(call.args))

    def _source(self) -> Source:
        def own() -> Any:  # noqa: ANN401 - of a driver
            return transactional(self._app.engine.store).connect()

        return Source(self._pair.database, own, batch=self._pair.batch)
