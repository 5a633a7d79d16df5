"""Scanner: runs the query of a pair and enqueues the executions that are missing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sempre.app.enqueue.enqueuer import Enqueuer
from sempre.app.enqueue.receipt import Receipt
from sempre.app.jobs import Call
from sempre.app.pairs.pair import Pair, Query
from sempre.app.pairs.sources import Source, call_of
from sempre.app.transactions.join import transactional
from sempre.domain.arguments import Json
from sempre.domain.pair import POISON_AFTER, Scan, cadence_of, pair_name
from sempre.domain.states import Kind
from sempre.domain.unique import Unique
from sempre.engine.events import Happened
from sempre.engine.ids import made_at
from sempre.errors import Skip
from sempre.executors.current import current

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["Scanner"]


class Scanner:
    """Runs the query of a pair, and enqueues the executions that are missing."""

    def __init__(self, app: "Sempre", pair: Pair) -> None:
        """Enqueue to the store of an application."""
        self._app = app
        self._pair = pair

    def run(self, shard: int = 0) -> dict[str, Json]:
        """Enqueue the runs that should exist and do not; return the scan as JSON.

        An error of the query fails the run; what was enqueued before stays. A shard that only an
        earlier release had is skipped.
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
        """Report the scan as an event, and each alarm as another one."""
        alarms = {
            Happened.PAIR_SCANNED: True,
            Happened.PAIR_UNCOVERED: bool(scan.uncovered),
            Happened.PAIR_FULL_SCAN: bool(scan.full_scans),
            Happened.PAIR_BEHIND: scan.is_behind,
        }
        for happened in (each for each, holds in alarms.items() if holds):
            self._app.events.emit(happened, pair=name, scan=scan)

    def _derive(self, scan: Scan, shard: int) -> set[int]:
        """Enqueue what the query finds; return the hashes of the keys, if there is a contract."""
        pair, seen = self._pair, set[int]()
        backoff = pair.backoff(current().slot)
        enqueuer = Enqueuer(self._app, kind=Kind.DERIVED, spread=pair.spread, backoff=backoff)
        source, taken = self._source(), list[Call[Any]]()

        def calls() -> Iterator[Call[Any]]:
            for item in source.items(pair.call(pair.query, shard)):
                taken.append(call_of(pair.job, item))
                yield taken[-1]

        for receipts in enqueuer.enqueue_many(calls(), batch=pair.batch):
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
        """Note what the contract finds and the query did not."""
        for item in self._source().items(self._pair.call(contract, shard)):
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
