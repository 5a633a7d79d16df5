"""Contracts of the log of actions: written with the change, newest first, purged by age."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.action import Act, Action, action_of
from sempre.domain.planning import plan_pause, plan_rename
from sempre.domain.switch import Switch
from sempre.domain.values import copy_with
from sempre.ports.messages import ActionQuery, Birth, Cancelled, Order
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    draft_schedule,
    enqueued,
    moment_of,
    new_id,
    now_of,
    started,
    view_of,
    waiting_schedule,
)


def _action(**fields: object) -> Action:
    """Return an action with an id of its own; later ones have greater ids."""
    given: dict[str, object] = {"id": new_id(), "verb": "pause", "target": "schedule:billing"}
    return Action(**(given | {"actor": "ana", "note": "why"} | fields))  # type: ignore[arg-type]


def _logged(store: Store, **query: object) -> list[Action]:
    """Return the log, without the times of its actions."""
    page = store.actions(ActionQuery(**query)).value  # type: ignore[arg-type]
    return [copy_with(each, at=None) for each in page.items]


def test_an_action_is_logged_with_its_plan(store: Store) -> None:
    """A plan that is carried out leaves its action, with the fields that it changed."""
    view = waiting_schedule(store)
    plan = plan_pause(view.schedule, view.rows, moment_of(store), note="migration", actor="ana")
    act = Act("pause", "schedule:billing", "ana", "migration")
    order = Order(plan, action=action_of(act, plan, new_id()))
    before = now_of(store)

    assert store.apply([order]) == [True]

    [found] = store.actions(ActionQuery()).value.items
    assert order.action is not None
    assert copy_with(found, at=None) == order.action
    assert found.at is not None
    assert before <= found.at <= now_of(store)
    assert found.after == {"paused": True, "pause_note": "migration"}


def test_a_refused_plan_leaves_no_action(store: Store) -> None:
    """The log tells what happened, not what was tried."""
    view = waiting_schedule(store)
    plan = plan_pause(view.schedule, view.rows, moment_of(store))
    assert store.apply([Order(plan)]) == [True]

    assert store.apply([Order(plan, action=_action())]) == [False]

    assert _logged(store) == []


def test_a_created_schedule_leaves_its_action_once(store: Store) -> None:
    """A creation that is repeated after a lost reply is one action; a taken name is none."""
    birth = started(draft_schedule(store), at=now_of(store))
    made = Birth(birth.schedule, birth.rows, _action(verb="create"))
    assert store.create([made]) == [True]

    assert store.create([made]) == [True]
    other = Birth(draft_schedule(store), (), _action(verb="create"))
    assert store.create([other]) == [False]

    assert _logged(store) == [made.action]


def test_only_cancellations_with_an_effect_are_logged(store: Store) -> None:
    """The action of an unknown execution is left out."""
    identity = enqueued(store, due_in=HOUR)
    actions = [_action(verb="cancel", target=f"execution:{each}") for each in (identity, "unknown")]

    answers = store.cancel([identity, "unknown"], actor="ana", actions=actions)

    assert answers == [Cancelled.ENDED, Cancelled.OVER]
    assert _logged(store) == actions[:1]


def test_a_switch_leaves_its_action(store: Store) -> None:
    """Both turns are logged."""
    switch = Switch("job:bill", "job:bill", "hold", "incident", "ana")
    off, on = (_action(verb=f"switch {word}", target="switch:job:bill") for word in ("off", "on"))

    store.switch(switch, off=True, action=off)
    store.switch(switch, off=False, action=on)

    assert {each.verb for each in _logged(store)} == {"switch off", "switch on"}


def test_recorded_actions_come_newest_first_and_by_page(store: Store) -> None:
    """Ids sort by time; a page ends where the next one begins."""
    actions = [_action(id=f"{number:03d}", before={"n": number}, after=[1]) for number in range(7)]
    store.record(actions)
    store.record(actions[:2])

    pages, after = [], ""
    while True:
        page = store.actions(ActionQuery(limit=3, after=after)).value
        pages.append([each.id for each in page.items])
        after = page.after
        if not after:
            break

    assert pages == [["006", "005", "004"], ["003", "002", "001"], ["000"]]
    assert _logged(store) == list(reversed(actions))


def test_actions_are_found_by_target_verb_actor_and_time(store: Store) -> None:
    """Each filter leaves out what does not match."""
    mine = _action(id="1", verb="skip", actor="ana", target="schedule:città \N{SNOWMAN}")
    yours = _action(id="2", verb="pause", actor="ben")
    store.record([mine, yours])
    now = now_of(store)

    assert _logged(store, target="schedule:città \N{SNOWMAN}") == [mine]
    assert _logged(store, verb="pause") == [yours]
    assert _logged(store, actor="ana") == [mine]
    assert _logged(store, since=now - HOUR, until=now + HOUR) == [yours, mine]
    assert _logged(store, since=now + HOUR) == []
    assert _logged(store, until=now - HOUR) == []


def test_any_text_of_an_operator_can_be_logged(store: Store) -> None:
    """Notes may hold quotes, line ends and characters of every script."""
    odd = _action(note='it\'s "odd"\n\t{} \N{SNOWMAN} \N{GRINNING FACE}', actor="Ána")
    store.record([odd])

    assert _logged(store) == [odd]


def test_old_actions_are_purged_in_parts(store: Store) -> None:
    """Only actions before the instant go, at most as many as asked for."""
    store.record([_action() for _ in range(5)])
    later = now_of(store) + timedelta(seconds=1)

    assert store.purge_actions(before=later - HOUR, limit=10) == 0
    gone = [store.purge_actions(before=later, limit=3) for _ in range(3)]

    assert gone == [3, 2, 0]
    assert _logged(store) == []
    assert _logged(store, target="schedule:billing") == []


def test_a_renamed_schedule_is_found_by_its_new_name_alone(store: Store) -> None:
    """The old name is free again; the rows stay with the schedule."""
    view = waiting_schedule(store)
    plan = plan_rename(view.schedule, view.rows, moment_of(store), to="invoices")

    assert store.apply([Order(plan, tuple(new_id() for _ in plan.creates))]) == [True]

    assert store.views(["billing"]).value == []
    renamed = view_of(store, "invoices")
    assert renamed.schedule.id == view.schedule.id
    assert [row.snapshot.name for row in renamed.rows if row.is_live] == ["invoices"]
    assert store.create([started(draft_schedule(store), at=now_of(store))]) == [True]


def test_a_schedule_cannot_take_the_name_of_another(store: Store) -> None:
    """The plan is refused, and the schedule keeps its name."""
    waiting_schedule(store, "invoices")
    view = waiting_schedule(store)
    plan = plan_rename(view.schedule, view.rows, moment_of(store), to="invoices")

    assert store.apply([Order(plan, tuple(new_id() for _ in plan.creates))]) == [False]

    assert view_of(store).schedule == view.schedule
