"""Contracts of declarations: code is brought to the store at start, and operators are respected."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from typing import Any

from sempre.app.application import Sempre
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Declared
from sempre.domain.definition import define
from sempre.domain.states import State
from sempre.grids import Every
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop


def _bill() -> None:
    """Stand for the user's function."""


def _declared(
    shop: Workshop,
    interval: str = "1h",
    *,
    enabled: bool = True,
    **settings: Any,  # noqa: ANN401
) -> Sempre:
    """Return code that declares a schedule."""
    app = shop.app(**settings)
    job = app.job(name="bill")(_bill)
    app.add("billing", Every(interval), job, priority=5, enabled=enabled)
    return app


def _is_running(shop: Workshop) -> bool:
    """Return whether a schedule has started and has exactly one next row."""
    schedule, waiting = shop.row(), [row.run_at for row in shop.rows() if row.is_live]
    return schedule.started and waiting == [schedule.next_run_at]


def _superseded(shop: Workshop) -> int:
    return len([row for row in shop.rows() if row.state is State.SUPERSEDED])


def test_a_declared_schedule_is_created_with_its_first_execution(store: Store) -> None:
    """If the store is the broker, the row is created in state scheduled."""
    shop = Workshop(store)

    synced = _declared(shop).sync()

    assert (synced.created, synced.changed) == (("billing",), ())
    [row] = shop.rows()
    assert (row.state, row.run_at) == (State.SCHEDULED, shop.row().next_run_at)
    assert row.run_at > shop.now


def test_a_schedule_created_disabled_starts_when_an_operator_enables_it(store: Store) -> None:
    """The enabling commit writes the row: no pass of the watchdog is needed."""
    shop = Workshop(store)
    _declared(shop, enabled=False).sync()
    assert shop.rows() == []

    assert shop.schedule().enable()

    assert _is_running(shop)


def test_a_schedule_created_disabled_starts_when_an_edit_enables_it(store: Store) -> None:
    """As by the verb; an edit of anything else starts nothing."""
    shop = Workshop(store)
    _declared(shop, enabled=False).sync()
    shop.schedule().edit(priority=7)
    assert not shop.row().started

    shop.schedule().edit(enabled=True)

    assert _is_running(shop)


def test_a_schedule_created_disabled_starts_when_a_deploy_enables_it(store: Store) -> None:
    """The code that declares it turned the flag."""
    shop = Workshop(store)
    _declared(shop, enabled=False).sync()

    assert _declared(shop).sync().changed == ("billing",)

    assert _is_running(shop)


def test_a_declaration_repeated_changes_nothing(store: Store) -> None:
    """Every start of every worker syncs."""
    shop = Workshop(store)
    _declared(shop).sync()
    before = shop.row(), shop.rows()

    for _ in range(3):
        synced = _declared(shop).sync()
        assert (synced.created, synced.changed, synced.disabled) == ((), (), ())

    assert (shop.row(), shop.rows()) == before


def test_two_processes_that_declare_the_same_make_one_schedule(store: Store) -> None:
    """The second process finds the schedule created."""
    shop = Workshop(store)
    one, other = _declared(shop), _declared(shop)

    assert one.sync().created == ("billing",)
    assert other.sync().created == ()

    assert [each.name for each in one.schedules] == ["billing"]
    assert len(shop.rows()) == 1


def test_alternating_restarts_of_two_releases_supersede_at_most_once(store: Store) -> None:
    """The higher release stays, after any number of restarts of the old code."""
    shop = Workshop(store)

    for number in range(20):
        old = number % 2 == 0
        _declared(shop, "1h" if old else "2h", release=1 if old else 2).sync()
        if number:
            assert shop.row().definition.grid == Every("2h")

    assert _superseded(shop) <= 1
    assert shop.row().revision <= 3


def test_a_deploy_replaces_what_it_changes_and_leaves_an_operators_edit(store: Store) -> None:
    """Field by field."""
    shop = Workshop(store)
    _declared(shop).sync()
    shop.schedule().edit(priority=1)

    assert _declared(shop, "2h").sync().changed == ("billing",)

    definition = shop.row().definition
    assert (definition.grid, definition.priority) == (Every("2h"), 1)


def test_a_deploy_never_ends_a_pause(store: Store) -> None:
    """The pause belongs to the operator, whatever the code declares."""
    shop = Workshop(store)
    _declared(shop).sync()
    shop.schedule().pause(note="migration")

    _declared(shop, "2h").sync()

    pause = shop.row().pause
    assert pause is not None
    assert pause.note == "migration"
    assert shop.row().next_run_at is None


def test_what_an_owner_declares_no_more_is_disabled(store: Store) -> None:
    """Only schedules of that owner; schedules made by an operator stay."""
    shop = Workshop(store)
    _declared(shop, owner="shop").sync()
    shop.due("by-hand")
    shop.due("by-another", owner="warehouse")

    synced = shop.app(owner="shop").sync()

    assert synced.disabled == ("billing",)
    assert not shop.row().definition.enabled
    assert shop.row("by-hand").definition.enabled
    assert shop.row("by-another").definition.enabled
    assert _declared(shop).sync().disabled == ()


def test_what_a_deploy_disabled_is_enabled_by_a_deploy_that_declares_it(store: Store) -> None:
    """Without releases the last start decides."""
    shop = Workshop(store)
    _declared(shop, owner="shop").sync()
    assert shop.app(owner="shop").sync().disabled == ("billing",)

    synced = _declared(shop, owner="shop").sync()

    assert (synced.enabled, synced.disabled) == (("billing",), ())
    assert _is_running(shop)


def test_what_an_operator_disabled_stays_disabled_through_deploys(store: Store) -> None:
    """Before the deploy that would have disabled it, and after."""
    shop = Workshop(store)
    _declared(shop, owner="shop").sync()
    shop.schedule().disable()
    shop.app(owner="shop").sync()
    assert _declared(shop, owner="shop").sync().enabled == ()
    shop.schedule().enable()
    shop.app(owner="shop").sync()

    assert shop.schedule().disable()

    assert _declared(shop, owner="shop").sync().enabled == ()
    assert not shop.row().definition.enabled


def test_what_a_newer_release_declares_is_not_disabled_by_an_older_one(store: Store) -> None:
    """A rolling deploy starts old code after new code."""
    shop = Workshop(store)
    _declared(shop, owner="shop", release=2).sync()

    assert shop.app(owner="shop", release=1).sync().disabled == ()

    assert _is_running(shop)


def test_what_a_newer_release_dropped_is_not_enabled_by_an_older_one(store: Store) -> None:
    """The schedule does not run either if the older release creates it only now."""
    shop = Workshop(store)
    newer = shop.app(owner="shop", release=2)
    newer.add("reports", Every("1h"), newer.job(name="report")(_bill))
    newer.sync()

    first = _declared(shop, owner="shop", release=1).sync()
    again = _declared(shop, owner="shop", release=1).sync()

    assert (first.created, first.disabled) == (("billing",), ("billing",))
    assert (again.enabled, again.withheld) == ((), ("billing",))
    assert not shop.row().definition.enabled
    assert shop.row("reports").definition.enabled


def test_many_schedules_are_created_at_once_and_taken_names_are_told(store: Store) -> None:
    """Each schedule gets its first execution; a taken name keeps its schedule."""
    shop = Workshop(store)
    before = shop.due("billing-3").schedule
    definition = define(job="bill", grid=Every("1h"))
    wanted = [Declared(f"billing-{number}", definition) for number in range(30)]

    created = Schedules(shop.engine()).create_many(wanted)

    assert created == [number != 3 for number in range(30)]
    assert shop.row("billing-3") == before
    for number in (0, 17, 29):
        [row] = shop.rows(f"billing-{number}")
        assert row.is_untried
