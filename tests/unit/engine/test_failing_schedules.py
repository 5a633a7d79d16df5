"""A schedule that fails in a pass is counted once, is told of, and harms no other."""

from collections.abc import Sequence

import pytest

from sempre import Cron, Sempre
from sempre.domain.definition import define
from sempre.domain.planning import plan_reconcile
from sempre.domain.schedule import Schedule
from sempre.engine import repair_plan
from sempre.engine.events import Event, Happened
from sempre.errors import StoreRefused, StoreUnavailable
from sempre.ports.messages import Birth, Order
from sempre.stores.memory import MemoryStore


class RefusingStore(MemoryStore):
    """Raises whenever a plan of the schedule `bad` is among those that it is to carry out."""

    error: Exception = StoreRefused("value too long")

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        if any(_name(order) == "bad" for order in orders):
            raise self.error
        return super().apply(orders)


class ContendedStore(MemoryStore):
    """Lets others be faster with the schedule `bad`, every time."""

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        kept = [order for order in orders if _name(order) != "bad"]
        answers = iter(super().apply(kept))
        return [_name(order) != "bad" and next(answers) for order in orders]


def _name(order: Order) -> str:
    return order.plan.schedule.name if order.plan.schedule else ""


def app_on(store: MemoryStore) -> tuple[Sempre, list[Event]]:
    """Return an application with three schedules that have lost their next row."""
    told: list[Event] = []
    app = Sempre(store)
    app.events.listen(told.append, Happened.FAULTY, Happened.PERFORMED)
    definition = define(job="report", grid=Cron("@daily"))
    now = app.clock.now()
    times = {"created_at": now, "cursor": now, "started": True}
    for name in ("aged", "bad", "fine"):
        lost = Schedule(id=name, name=name, definition=definition, **times)  # type: ignore[arg-type]
        app.engine.store.create([Birth(lost)])
    return app, told


def check(app: Sempre, told: list[Event]) -> set[str]:
    """Let a pass fail for one schedule alone; return which ones were called faulty."""
    report = app.watchdog.perform()

    assert report.schedules_failed == 1
    assert report.executions_created == 2
    assert told[-1].facts["schedules_failed"] == 1
    assert [app.schedule(name).row.next_run_at is not None for name in ("aged", "bad", "fine")] == [
        True,
        False,
        True,
    ]
    assert app.engine.store.last_pass().value.finished_at is not None
    assert app.watchdog.force().schedules_failed == 1
    return {event.facts["schedule"] for event in told if event.name is Happened.FAULTY}


@pytest.mark.parametrize("error", [StoreRefused("too long"), ValueError("too long")])
def test_one_that_the_store_refuses_is_counted_once(error: Exception) -> None:
    store = RefusingStore()
    store.error = error

    assert check(*app_on(store)) == {"bad"}


def test_one_that_others_change_all_the_time_is_counted_once() -> None:
    assert check(*app_on(ContendedStore())) == set()


def test_one_that_planning_cannot_deal_with_is_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(schedule: Schedule, *arguments: object, **options: object) -> object:
        if schedule.name == "bad":
            raise ValueError("no plan")
        return plan_reconcile(schedule, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(repair_plan, "plan_reconcile", plan)

    assert check(*app_on(MemoryStore())) == {"bad"}


def test_a_store_that_is_gone_ends_the_pass_and_blames_no_schedule() -> None:
    store = RefusingStore()
    store.error = StoreUnavailable("gone")
    app, told = app_on(store)

    app.watchdog.perform()

    assert [event.name for event in told] == [Happened.PERFORMED]
    assert told[0].facts["schedules_failed"] == 0
