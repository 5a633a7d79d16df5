"""Switches: which are off, what they stop, and the end of those whose time is over."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from sempre.domain.execution import Draft
from sempre.ports.messages import Switch, Wanted
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.encoding import lane, tag_text, tags_within
from sempre.stores.sql.records import read_switch, write_switch

__all__ = ["Stops", "switches_off", "turn", "with_switches"]

T = TypeVar("T")


class _TimeIsOver(Exception):
    """A switch has to go on again before the work can be done."""


class Stops(NamedTuple):
    """The switches that are off, asked what they stop."""

    switches: tuple[Switch, ...]

    def named(self, kind: str) -> list[str]:
        """Return what switches of one kind name, such as the jobs."""
        targets = (switch.target.partition(":") for switch in self.switches)
        return sorted({name for found, _, name in targets if found == kind and name})

    def due(self, wanted: Wanted, *, of_schedules: bool) -> dict[str, list[str]] | None:
        """Return the parameters of the statement for what is due; None if all is stopped."""
        queues = wanted.queues - set(self.named("queue"))
        jobs = wanted.jobs - set(self.named("job"))
        if any(switch.target == "all" for switch in self.switches) or not (queues and jobs):
            return None
        return {
            "lanes": sorted(lane(queue, of_schedules=of_schedules) for queue in queues),
            "jobs": sorted(jobs),
            "stopped_names": self.named("pair"),
            "stopped_tags": [tag_text(tag) for tag in self.named("tag")],
        }

    def tags(self, transaction: Transaction, rows: Iterable[Draft]) -> dict[str, list[str]]:
        """Return the tags of the rows' schedules, if a switch names any tag."""
        if not self.named("tag"):
            return {}
        ids = sorted({row.schedule_id for row in rows if row.schedule_id})
        return {row[0]: tags_within(row[1]) for row in transaction.rows("tags_of", ids=ids)}

    def stopping(self, row: Draft, tags: dict[str, list[str]]) -> Switch | None:
        """Return a switch that is off for an execution."""
        snapshot = row.snapshot
        named = {f"job:{snapshot.job}", f"queue:{snapshot.queue}", f"pair:{snapshot.name}"}
        marked = {f"tag:{tag}" for tag in tags.get(row.schedule_id or "", ())}
        targets = {"all", *named, *marked}
        return next((each for each in self.switches if each.target in targets), None)


def switches_off(transaction: Transaction, *, lock: bool = True) -> Stops:
    """Return the switches that are off; if locked, whoever turns one waits for the transaction.

    Only within `with_switches`, which ends those whose time is over.
    """
    if lock:
        transaction.run("lock_switches")
    switches = tuple(map(read_switch, transaction.rows("all_switches")))
    if _over(switches, transaction):
        raise _TimeIsOver
    return Stops(switches)


def with_switches(run: Callable[[], T], dialect: Dialect) -> T:
    """Run a transaction that asks for switches, after those whose time is over went on again."""
    while True:
        try:
            return run()
        except _TimeIsOver:
            dialect.write(_end_those_over)


def turn(transaction: Transaction, switch: Switch, *, off: bool) -> None:
    """Turn a switch off, or on again, which frees what it held."""
    if off:
        transaction.run("turn_off", **write_switch(switch))
    else:
        _turn_on(transaction, switch.name)


def _end_those_over(transaction: Transaction) -> None:
    switches = list(map(read_switch, transaction.rows("all_switches")))
    for switch in _over(switches, transaction):
        _turn_on(transaction, switch.name)


def _turn_on(transaction: Transaction, name: str) -> None:
    transaction.run("turn_on", name=name)
    transaction.run("free_held", name=name)


def _over(switches: Sequence[Switch], transaction: Transaction) -> list[Switch]:
    return [each for each in switches if each.until is not None and each.until <= transaction.now]
