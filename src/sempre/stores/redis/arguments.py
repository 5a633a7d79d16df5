"""Arguments of scripts: plans, births, work and settlements, in the order that scripts read."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from sempre.domain.action import Action
from sempre.domain.execution import SlotRange
from sempre.domain.planning.plan import Change, Plan
from sempre.domain.planning.unique_conflict import is_revival
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.ports.messages import Birth, Order, Pass, Report, Settlement, Wanted, Work
from sempre.stores.redis import encoding
from sempre.stores.redis.records import write_attempt, write_loss, write_report

__all__ = [
    "action",
    "actions",
    "births",
    "claims",
    "listed",
    "orders",
    "pairs",
    "pass_intervals",
    "reports",
    "settlements",
    "slot_range",
    "wanted_work",
    "works",
]

Argument = str | int
Arguments = Iterator[Argument]


def listed(values: Iterable[str]) -> Arguments:
    """Yield a list: the number of values, then each value."""
    found = list(values)
    yield len(found)
    yield from found


def pairs(fields: Mapping[str, str]) -> Arguments:
    """Yield fields: the number of fields, then each name and value."""
    yield len(fields)
    for name, value in fields.items():
        yield name
        yield value


def births(given: Sequence[Birth]) -> Arguments:
    """Yield schedules to create, with their rows."""
    yield len(given)
    for birth in given:
        yield birth.schedule.id
        yield from pairs(encoding.write_schedule(birth.schedule))
        yield len(birth.rows)
        for row in birth.rows:
            yield row.id
            yield from pairs(encoding.write_execution(row))
        yield from action(birth.action)


def action(given: Action | None) -> Arguments:
    """Yield an entry for the log of actions; empty texts for an operation without an action."""
    if given is None:
        yield from ("", "", "")
        return
    values = given.verb, given.actor, given.note, given.before, given.after
    yield from (given.id, given.target, encoding.json_text(values))


def actions(given: Sequence[Action]) -> Arguments:
    """Yield entries for the log of actions."""
    yield len(given)
    for each in given:
        yield from action(each)


def orders(given: Sequence[Order]) -> Arguments:
    """Yield plans to carry out."""
    yield len(given)
    for order in given:
        yield from _order(order)
        yield from action(order.action)


def claims(given: Sequence[Order]) -> Arguments:
    """Yield plans that start one execution each: the place of that change, its due_at, the plan."""
    yield len(given)
    for order in given:
        changes = enumerate(order.plan.changes, start=1)
        place, change = next(each for each in changes if each[1].after.state is State.RUNNING)
        yield place
        yield encoding.stamp(change.before.due_at)
        yield from _order(order)


def settlements(given: Sequence[Settlement]) -> Arguments:
    """Yield settlements: which attempt ended, its outcome, and the plan that follows."""
    yield len(given)
    for each in given:
        yield each.execution.id
        yield each.execution.fence
        yield each.execution.session
        yield write_attempt(each)
        yield from _order(Order(each.plan))


def works(given: Collection[Work]) -> Arguments:
    """Yield one-off work to enqueue."""
    yield len(given)
    for work in given:
        yield work.execution.id
        yield from pairs(encoding.write_execution(work.execution))
        unique = work.unique
        if unique is None:
            yield from ("", "", 0)
        else:
            yield from (unique.mode, unique.key, unique.period // encoding.MICROSECOND)
        backoff = work.backoff
        waits = (backoff.base, backoff.cap) if backoff else (timedelta(0), timedelta(0))
        yield from (wait // encoding.MICROSECOND for wait in waits)


def reports(given: Sequence[Report]) -> Arguments:
    """Yield progress reports."""
    yield len(given)
    for each in given:
        yield from (each.execution_id, each.fence, write_report(each))


def pass_intervals(every: timedelta) -> Arguments:
    """Yield the time to the next pass, and the time beyond which a stored due_at is an error."""
    yield from (each // encoding.MICROSECOND for each in (every, Pass.farthest(every)))


def wanted_work(wanted: Wanted, *, within: timedelta | None = None) -> Arguments:
    """Yield the queues, jobs and limit of a worker, the overdue time, and `within` if given."""
    yield from listed(wanted.queues)
    yield from listed(wanted.jobs)
    yield wanted.limit
    yield "" if wanted.overdue is None else wanted.overdue // encoding.MICROSECOND
    if within is not None:
        yield within // encoding.MICROSECOND


def _order(order: Order) -> Arguments:
    plan = order.plan
    yield from _base(plan.base)
    yield int(plan.schedule != plan.base)
    yield plan.decides
    yield from _stop(plan.stopped_by)
    yield from pairs(_moved(plan))
    yield len(plan.changes)
    for change in plan.changes:
        yield from _change(change)
    yield len(plan.creates)
    for identity, draft in zip(order.ids, plan.creates, strict=True):
        yield identity
        yield from pairs(encoding.write_draft(draft))
    yield len(plan.ranges)
    for passed in plan.ranges:
        yield from slot_range(passed)
    yield encoding.stamp(plan.retracts_after)


def _stop(switch: Switch | None) -> Arguments:
    yield from (switch.name, switch.target, switch.mode) if switch else ("", "", "")


def _base(base: Schedule | None) -> Arguments:
    if base is None:
        yield from ("", "", "", "")
    else:
        yield from (base.id, base.revision, base.starts, encoding.stamp(base.cursor))


def _moved(plan: Plan) -> dict[str, str]:
    """Return the fields of a schedule that a plan writes: none if the plan moves no schedule."""
    if plan.schedule is None or not plan.moves:
        return {}
    write = encoding.write_schedule if plan.redeclares else encoding.write_moved_schedule
    return write(plan.schedule)


def _change(change: Change) -> Arguments:
    before = change.before
    yield from (before.id, before.state.value, before.attempt, before.fence, before.held_by)
    yield write_loss(change)
    yield int(change.is_rescue)
    yield int(not change.after.holds_slot)
    takes = is_revival(change) and change.after.holds_slot and not before.holds_slot
    yield from (before.schedule_id or "", encoding.stamp(before.run_at)) if takes else ("", "")
    yield from pairs(encoding.write_changed_execution(change.after))


def slot_range(passed: SlotRange) -> Arguments:
    """Yield a range of slots that passed without a row."""
    yield passed.schedule_id
    yield encoding.stamp(passed.first)
    yield encoding.stamp(passed.last)
    yield f"{passed.count} {passed.reason}"
