"""Switches: which are off, which executions they stop, and which have reached their end."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from sempre.domain.execution import Draft
from sempre.domain.planning.plan import Plan
from sempre.domain.switch import Switch, held_by, stopping
from sempre.domain.values import copy_with
from sempre.grids.instants import microseconds_of
from sempre.ports.messages import Enqueued, Wanted
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.encoding import lane, tag_text, tags_within
from sempre.stores.sql.records import read_switch, write_switch

__all__ = [
    "ActiveSwitches",
    "Decisions",
    "TimeIsOver",
    "count_rejections",
    "switches_in_force",
    "switches_off",
    "turn",
    "with_switches",
]

T = TypeVar("T")


class TimeIsOver(Exception):
    """A switch has reached its end: turn the switch on, then repeat the work."""


class ActiveSwitches(NamedTuple):
    """The switches that are off, and the executions that they stop."""

    switches: tuple[Switch, ...] = ()

    def due(self, wanted: Wanted) -> dict[str, list[str]] | None:
        """Return the parameters of `due` for planned rows; None if no row can be due.

        Held rows are left out. Rejected rows are not: their slots have to be skipped.
        """
        held = ActiveSwitches(tuple(switch for switch in self.switches if switch.holds))
        queues = () if held.has_all else wanted.queues - held.named("queue")
        lanes = [lane(queue, "slots") for queue in queues]
        # A plan holds one-off work with a limit that a switch stops.
        lanes += [lane(queue, which) for queue in wanted.queues for which in ("manual", "limited")]
        asked = _asked(lanes, wanted.jobs)
        return asked and asked | held.targets()

    def targets(self) -> dict[str, list[str]]:
        """Return the targets of the switches, without queues, as parameters of statements."""
        pairs = {f"pair:{job}" for job in self.named("pair")}
        return {
            "stopped_jobs": sorted(self.named("job")),
            "stopped_names": sorted(pairs),
            "stopped_shards": sorted(f"{pair}/" for pair in pairs),
            "stopped_tags": sorted(map(tag_text, self.named("tag"))),
        }

    def to_take(self, wanted: Wanted) -> dict[str, list[str]] | None:
        """Return the parameters for due one-off work, which waits for both kinds of switch."""
        queues = () if self.has_all else wanted.queues - self.named("queue")
        jobs = wanted.jobs - self.named("job")
        return _asked([lane(queue, "single") for queue in queues], jobs)

    @property
    def has_all(self) -> bool:
        """Whether a switch stops everything."""
        return any(switch.target == "all" for switch in self.switches)

    def named(self, what: str) -> set[str]:
        """Return the names that switches of one kind of target stop, such as the jobs."""
        targets = (switch.target.partition(":") for switch in self.switches)
        return {name for found, _, name in targets if found == what and name}

    def tags(self, transaction: Transaction, rows: Iterable[Draft]) -> dict[str, list[str]]:
        """Return the tags of the rows' schedules, if a switch names any tag."""
        if not self.named("tag"):
            return {}
        ids = sorted({row.schedule_id for row in rows if row.schedule_id})
        return {row[0]: tags_within(row[1]) for row in transaction.rows("tags_of", ids=ids)}

    def stopping(self, row: Draft, tags: Mapping[str, Collection[str]]) -> Switch | None:
        """Return the switch that stops an execution, if any."""
        return stopping(self.switches, row, tags.get(row.schedule_id or "", ()))


def count_rejections(transaction: Transaction, receipts: Iterable[Enqueued]) -> None:
    """Add to the counts of work that switches have rejected."""
    refused = Counter(each.rejected_by for each in receipts if each.rejected_by)
    for name, count in sorted(refused.items()):
        transaction.run("count_rejections", name=name, refused=count)


class Decisions:
    """Whether each plan saw the switches that are off now."""

    def __init__(self, transaction: Transaction, plans: Iterable[Plan]) -> None:
        """Lock the switches, if any plan decides about a start."""
        rows = {
            change.before.id: change.before
            for plan in plans
            for change in plan.changes
            if change.before.id == plan.decides
        }
        stops = switches_off(transaction) if rows else ActiveSwitches()
        tags = stops.tags(transaction, rows.values())
        self._now = {each: stops.stopping(row, tags) for each, row in rows.items()}

    def stand(self, plan: Plan) -> bool:
        """Return whether a plan saw the switch that stops its execution now."""
        switch = self._now.get(plan.decides)
        if switch is None:
            return plan.stopped_by is None
        return switch.is_same_stop(plan.stopped_by)


def switches_off(transaction: Transaction, *, lock: bool = True) -> ActiveSwitches:
    """Return the switches that are off; with `lock`, turning a switch waits for this transaction.

    Call this only within `with_switches`, which turns on the switches that have reached their end.
    """
    if lock:
        transaction.send("lock_switches")
    switches = list(map(read_switch, transaction.rows("all_switches")))
    return ActiveSwitches(_check_in_time(switches, transaction.now))


def _check_in_time(switches: Sequence[Switch], now: datetime) -> tuple[Switch, ...]:
    """Return the switches; TimeIsOver if one has reached its end. Only within `with_switches`."""
    if _over(switches, now):
        raise TimeIsOver
    return tuple(switches)


def switches_in_force(transaction: Transaction) -> list[Switch]:
    """Return the switches that are off and have not reached their end; write nothing."""
    switches = list(map(read_switch, transaction.rows("all_switches")))
    over = _over(switches, transaction.now)
    refused = {row[0]: row[1] for row in transaction.rows("all_rejections")} if switches else {}
    return [
        copy_with(switch, rejected=refused.get(switch.name, 0))
        for switch in switches
        if switch not in over
    ]


def with_switches(run: Callable[[], T], dialect: Dialect) -> T:
    """Run a transaction that reads switches, after turning on those that have reached their end."""
    while True:
        try:
            return run()
        except TimeIsOver:
            dialect.write(_end_those_over)


def turn(transaction: Transaction, switch: Switch, *, off: bool) -> None:
    """Turn a switch off, or on again, which frees the executions that the switch held."""
    if off:
        transaction.run("turn_off", **write_switch(switch))
    else:
        _turn_on(transaction, switch.name)


def _end_those_over(transaction: Transaction) -> None:
    switches = list(map(read_switch, transaction.rows("all_switches")))
    for switch in _over(switches, transaction.now):
        _turn_on(transaction, switch.name)


def _turn_on(transaction: Transaction, name: str) -> None:
    """Free the executions that a switch held; overdue slots get the switch as their reason."""
    known = map(read_switch, transaction.rows("all_switches"))
    ended = ActiveSwitches(tuple(each for each in known if each.name == name and each.holds))
    transaction.run("turn_on", name=name)
    transaction.run("forget_rejections", name=name)
    transaction.run("free_held", name=name)
    if ended.switches:
        queues, everything = sorted(ended.named("queue")), int(ended.has_all)
        whom = {"stopped_queues": queues, "everything": everything, **ended.targets()}
        # Read first: an update would wait for rows that other transactions have not committed.
        now = microseconds_of(transaction.now)
        ids = [row[0] for row in transaction.rows("held_slots", now=now, **whom)]
        transaction.run("note_held", reason=held_by(name), ids=ids)


def _over(switches: Sequence[Switch], now: datetime) -> list[Switch]:
    return [each for each in switches if each.until is not None and each.until <= now]


def _asked(lanes: list[str], jobs: Iterable[str]) -> dict[str, list[str]] | None:
    asked = {"lanes": sorted(lanes), "jobs": sorted(jobs)}
    return asked if all(asked.values()) else None
