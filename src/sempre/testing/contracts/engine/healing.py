"""Contracts of healing: each repair leaves one entry in the log of actions; health leaves none."""

# ruff: noqa: S101 - a contract asserts, with literals

from datetime import timedelta

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.values import copy_with
from sempre.engine.healing import MOST_NAMED, Heals
from sempre.engine.ids import new_id
from sempre.engine.watchdog import Watchdog
from sempre.errors import StoreUnavailable
from sempre.ports.messages import ActionQuery, Birth
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import ForgetfulBroker, StillClock
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import (
    claimed,
    draft_schedule,
    enqueued,
    now_of,
    session_of,
    work_of,
)

OFTEN = timedelta(microseconds=1)


def _healed(store: Store) -> list[Action]:
    return list(store.actions(ActionQuery(verb="heal", limit=100)).value.items)


def _after(action: Action) -> dict[str, Json]:
    assert isinstance(action.after, dict)
    return action.after


def _enqueued(shop: Workshop, *, ago: timedelta) -> str:
    """Enqueue work whose id was made some time ago; return the id."""
    work = work_of(shop.store)
    identity = new_id(now_of(shop.store) - ago)
    [receipt] = shop.store.enqueue(
        [copy_with(work, execution=copy_with(work.execution, id=identity))]
    )
    assert receipt.created
    return identity


def test_a_lost_queue_is_noted_once_with_what_was_rung_again(store: Store) -> None:
    """One entry for all tickets; it names some of them, and counts them all."""
    shop, broker = Workshop(store), ForgetfulBroker()
    worker = shop.worker(broker=broker, watchdog_interval=OFTEN)
    worker.heal()
    ids = {enqueued(shop.store) for _ in range(MOST_NAMED + 5)}
    worker.heal()
    before = _healed(store)

    broker.forget()
    worker.heal()

    [entry] = [each for each in _healed(store) if each not in before]
    after = _after(entry)
    assert (entry.actor, entry.target) == ("watchdog", "queue:default")
    assert (after["cause"], after["count"]) == (Heals.QUEUE_LOST, MOST_NAMED + 5)
    named = after["executions"]
    assert isinstance(named, list)
    assert len(named) == MOST_NAMED
    assert set(map(str, named)) <= ids


def test_the_first_pass_finds_no_queue_lost(store: Store) -> None:
    """No sentinel was there before, so none is missing."""
    shop = Workshop(store)
    enqueued(shop.store)

    shop.worker(broker=ForgetfulBroker(), watchdog_interval=OFTEN).heal()

    assert _healed(store) == []


def test_work_that_never_had_a_ticket_is_noted_by_the_pass_that_rings_it(store: Store) -> None:
    """Its writer died before the announcement, longer than grace ago."""
    shop = Workshop(store)
    worker = shop.worker(broker=ForgetfulBroker(), watchdog_interval=OFTEN)
    worker.heal()
    mail = _enqueued(shop, ago=timedelta(minutes=1))

    worker.heal()

    [entry] = _healed(store)
    assert (entry.actor, entry.target) == ("watchdog", "queue:default")
    assert _after(entry) == {"cause": Heals.UNANNOUNCED, "count": 1, "executions": [mail]}


def test_work_that_was_enqueued_just_now_is_not_noted(store: Store) -> None:
    """Its writer may put the ticket at this moment."""
    shop = Workshop(store)
    worker = shop.worker(broker=ForgetfulBroker(), watchdog_interval=OFTEN)
    worker.heal()
    _enqueued(shop, ago=timedelta(0))

    worker.heal()

    assert _healed(store) == []


def test_a_ticket_that_never_came_is_noted_by_the_sweep_that_starts_the_work(
    store: Store,
) -> None:
    """The worker listened for an hour, with free places."""
    shop, clock, hour = Workshop(store), StillClock(), 3600.0
    worker = shop.worker(
        broker=ForgetfulBroker(),
        clock=clock,
        grace=timedelta(0),
        sweep=OFTEN,
        lease=timedelta(seconds=2 * hour),
    )
    assert worker.turn() == []
    worker.fetcher.tickets.tests.listened(until=clock.elapsed() + hour)
    clock.move(hour)
    mail = enqueued(shop.store)

    assert [each.id for each in worker.turn()] == [mail]

    [entry] = _healed(store)
    after = _after(entry)
    assert (entry.actor, entry.target) == ("sempre", "queue:default")
    assert after == {"cause": Heals.TICKET_LOST, "count": 1, "executions": [mail]}


def test_an_expired_lease_is_noted_under_its_worker(store: Store) -> None:
    """One entry for all executions of the session."""
    shop = Workshop(store)
    session = session_of(shop.store)
    ids = {enqueued(shop.store) for _ in range(3)}
    for each in ids:
        claimed(shop.store, each, session)
    shop.store.retire(session)

    shop.worker().maintenance.rescuer.rescue()

    [entry] = _healed(store)
    after = _after(entry)
    assert (entry.target, after["cause"]) == (f"worker:{session}", Heals.LEASE_EXPIRED)
    named = after["executions"]
    assert isinstance(named, list)
    assert (after["count"], set(map(str, named))) == (3, ids)


def test_a_next_row_that_was_missing_is_noted_under_its_schedule(store: Store) -> None:
    """One entry for one schedule; it names the new execution."""
    shop = Workshop(store)
    schedule = draft_schedule(shop.bare, "billing", grid=shop.hourly())
    astray = copy_with(schedule, started=True, next_run_at=None)
    assert shop.bare.create([Birth(astray)]) == [True]

    Watchdog(shop.engine(watchdog_interval=OFTEN)).perform()

    [entry] = _healed(store)
    [row] = shop.rows()
    assert (entry.actor, entry.target) == ("watchdog", "schedule:billing")
    assert _after(entry) == {"cause": Heals.NEXT_MISSING, "count": 1, "executions": [row.id]}


def test_a_schedule_that_is_started_by_the_pass_was_not_wrong(store: Store) -> None:
    """A first start is no repair."""
    shop = Workshop(store)
    schedule = draft_schedule(shop.bare, "billing", grid=shop.hourly())
    assert shop.bare.create([Birth(schedule)]) == [True]

    Watchdog(shop.engine(watchdog_interval=OFTEN)).perform()

    assert len(shop.rows()) == 1
    assert _healed(store) == []


def test_an_entry_that_cannot_be_written_harms_no_repair(store: Store) -> None:
    """The rescue is done; only its entry is missing."""
    shop = Workshop(store)
    session = session_of(shop.store)
    mail = enqueued(shop.store)
    claimed(shop.store, mail, session)
    shop.store.retire(session)
    worker = shop.worker()
    healing = worker.engine.healing

    def refuse(_actions: object) -> None:
        raise StoreUnavailable("down")

    healing._log = type("Down", (), {"record": staticmethod(refuse)})()  # noqa: SLF001 - the store itself must work

    assert worker.maintenance.rescuer.rescue() == 1
    assert _healed(store) == []


def test_repairs_that_follow_each_other_soon_share_an_entry(store: Store) -> None:
    """A broken broker must not fill the log."""
    shop, clock = Workshop(store), StillClock()
    healing = shop.engine(clock=clock).healing

    for number in range(100):
        healing.add(Heals.TICKET_LOST, "queue:default", [str(number)])
        healing.flush()
    clock.move(60.0)
    healing.flush()

    counts = [_after(each)["count"] for each in _healed(store)]
    assert sorted(map(str, counts)) == ["1", "99"]
