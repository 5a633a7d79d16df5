"""Plans of changes: kept in a file, applied exactly, or refused because the store moved on."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from sempre import Cron, Every, Sempre
from sempre.app.changes.change_plan import ChangePlan, read_plan, write_plan
from sempre.app.changes.differences import differences, differences_of_plan
from sempre.app.changes.preview_json import plan_json
from sempre.app.transfer.lines import write_line
from sempre.app.transfer.reading import Export
from sempre.brokers.store import StoreBroker
from sempre.errors import NotFound, Refused
from sempre.errors.changes import MovedOn
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand


@pytest.fixture
def shop(app: Sempre) -> Sempre:
    """Two schedules, which code declares."""

    @app.cron("30 13 * * *", name="bill", timezone="Europe/Rome")
    def bill(region: str = "all") -> None: ...

    app.add("stats", Every("1h"), bill)
    app.sync()
    return app


def reread(plan: ChangePlan) -> ChangePlan:
    """Return a plan as a file has it."""
    return read_plan(json.loads(write_plan(plan)))


def dump(app: Sempre) -> list[str]:
    return [write_line(each) for each in Export(app.engine.store).records()]


def test_a_plan_from_a_file_does_what_was_previewed(shop: Sempre) -> None:
    plan = shop.plan.edit("bill", cron="0 15 * * *", args={"region": "eu"}, why="quieter hour")
    preview = plan.steps[0].preview
    assert preview is not None

    [applied] = shop.apply(reread(plan))

    row = shop.schedule("bill").row
    assert applied.done
    assert row.definition == preview.schedule.definition
    assert row.next_run_at == applied.next_run_at == preview.schedule.next_run_at
    [action] = shop.actions(target="schedule:bill")
    assert (action.verb, action.note) == ("edit", "quieter hour")


def test_every_verb_survives_a_file(shop: Sempre) -> None:
    for plan in (
        shop.plan.pause("bill", until="2h", note="migration"),
        shop.plan.disable("bill"),
        shop.plan.skip("bill"),
        shop.plan.delete("bill"),
    ):
        assert [each.step for each in reread(plan).steps] == [each.step for each in plan.steps]
        assert [each.base for each in reread(plan).steps] == [each.base for each in plan.steps]


def test_a_length_of_a_pause_is_counted_from_the_plan(shop: Sempre, clock: Hand) -> None:
    plan = shop.plan.pause("bill", until="30m")
    clock.move(minutes=10)

    shop.apply(reread(plan))

    pause = shop.schedule("bill").row.pause
    assert pause is not None
    assert pause.until == clock.now() + timedelta(minutes=20)


def test_planning_writes_nothing(shop: Sempre) -> None:
    before = dump(shop)

    shop.plan.edit("bill", cron="0 15 * * *")
    shop.plan.pause("bill", "stats", until="2h")
    shop.plan.delete("bill")
    shop.plan.skip("stats")
    shop.plan.deploy()

    assert dump(shop) == before


def test_a_change_that_changes_nothing_has_no_steps(shop: Sempre) -> None:
    plan = shop.plan.edit("bill", cron="30 13 * * *")

    assert (plan.steps, plan.unchanged) == ((), ("bill",))
    assert shop.apply(plan) == []


def test_a_plan_of_an_unknown_schedule_is_refused_with_a_hint(shop: Sempre) -> None:
    with pytest.raises(NotFound, match="bill"):
        shop.plan.disable("bil")


def test_a_schedule_that_was_edited_since_is_named_with_its_editor(shop: Sempre) -> None:
    plan = shop.plan.disable("bill", "stats")
    shop.schedule("stats").edit(priority=7)
    before = dump(shop)

    with pytest.raises(MovedOn, match=r"stats has changed since: revision 2, now 3 \(edit by "):
        shop.apply(plan)

    assert dump(shop) == before  # neither step was applied


def test_a_plan_for_another_store_is_refused(shop: Sempre, clock: Hand) -> None:
    other = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)
    plan = shop.plan.disable("bill")

    with pytest.raises(MovedOn, match="another store"):
        other.apply(plan)


def test_a_slot_that_has_come_since_is_named(shop: Sempre, clock: Hand) -> None:
    plan = shop.plan.edit("bill", cron="0 23 * * *")
    clock.move(hours=2)

    with pytest.raises(MovedOn, match=r"the slot 2026-11-15 12:30Z of bill has come"):
        shop.apply(plan)

    [applied] = shop.apply(plan, late=True)
    assert applied.done


def test_an_execution_that_is_replaced_may_have_run_since(shop: Sempre, clock: Hand) -> None:
    plan = shop.plan.edit("stats", queue="slow")
    assert plan.holds_until is None
    clock.move(hours=1, seconds=1)
    with shop.running(burst=True, sync=False, queues=["default", "slow"]) as running:
        running.wait_until_exhausted()

    [applied] = shop.apply(plan)

    assert applied.done
    assert shop.schedule("stats").definition.queue == "slow"


def test_an_execution_that_waits_since_is_not_ended_unseen(shop: Sempre, clock: Hand) -> None:
    shop.schedule("bill").pause(until="30 days")
    plan = shop.plan.disable("bill")
    clock.move(days=31)
    shop.watchdog.perform()

    with pytest.raises(MovedOn):
        shop.apply(plan)


def test_an_application_that_stopped_half_way_is_repeated(shop: Sempre) -> None:
    plan = shop.plan.disable("bill", "stats")
    first = ChangePlan(plan.store, plan.made_at, plan.made_by, plan.steps[:1])
    shop.apply(first)

    assert [each.done for each in shop.apply(plan)] == [False, True]
    assert [each.done for each in shop.apply(plan)] == [False, False]


def test_a_deleted_schedule_is_deleted_once(shop: Sempre) -> None:
    plan = shop.plan.delete("bill")

    assert [each.done for each in (*shop.apply(plan), *shop.apply(plan))] == [True, False]


def test_a_step_on_a_deleted_schedule_is_refused(shop: Sempre) -> None:
    plan = shop.plan.disable("bill")
    shop.schedule("bill").delete()

    with pytest.raises(MovedOn, match=r"bill is gone \(delete by "):
        shop.apply(plan)


def test_a_name_that_was_taken_since_is_refused(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    app.add("bill", Every("1h"), bill)
    plan = app.plan.deploy()
    app.put_schedule("bill", Every("2h"), bill)

    with pytest.raises(MovedOn, match="bill was created since"):
        app.apply(plan)


def test_a_planned_deploy_from_a_file_creates_and_changes(clock: Hand) -> None:
    store = MemoryStore(clock)

    def code(text: str, *names: str) -> Sempre:
        app = Sempre(store, broker=StoreBroker(), clock=clock, owner="shop")

        @app.job
        def bill() -> None: ...

        for name in names:
            app.add(name, Cron(text), bill)
        return app

    code("0 2 * * *", "old", "kept").sync()
    app = code("0 3 * * *", "kept", "new")

    plan = app.plan.deploy()
    shown = [(each.step.verb, each.step.name) for each in plan.steps]
    app.apply(reread(plan))

    assert shown == [("create", "new"), ("declare", "kept"), ("prune", "old")]
    assert plan.synced is not None
    assert (plan.synced.created, plan.synced.disabled) == (("new",), ("old",))
    assert not app.schedule("old").definition.enabled
    assert app.schedule("kept").definition.grid == Cron("0 3 * * *")
    assert app.sync().changed == ()
    without = code("0 3 * * *", "kept").plan.deploy(prune=False)
    assert (without.steps, without.dropped) == ((), ("new",))


def test_a_file_of_another_version_is_refused(shop: Sempre) -> None:
    found = json.loads(write_plan(shop.plan.disable("bill")))

    with pytest.raises(Refused, match="version 9"):
        read_plan({**found, "v": 9})
    with pytest.raises(Refused, match="the verb is none of"):
        read_plan({**found, "steps": [{**found["steps"][0], "step": {"verb": "run"}}]})
    step = {**found["steps"][0]["step"], "colour": "red"}
    with pytest.raises(Refused, match="colour is unknown"):
        read_plan({**found, "steps": [{**found["steps"][0], "step": step}]})


def test_a_restored_store_with_the_same_revision_is_refused(shop: Sempre) -> None:
    found = json.loads(write_plan(shop.plan.disable("bill")))
    found["steps"][0]["base"]["state"] = "0" * 16

    with pytest.raises(MovedOn, match="another definition"):
        shop.apply(read_plan(found))


def test_differences_say_whose_they_are(shop: Sempre) -> None:
    declared = shop.declarations.schedules
    assert list(differences(shop.engine, declared, owner=None)) == []
    shop.schedule("bill").edit(priority=7, queue="slow")
    newer = Sempre(shop.engine.store, broker=StoreBroker(), clock=shop.clock)

    @newer.cron("30 13 * * *", name="bill", timezone="Europe/Rome", queue="fast", jitter="5m")
    def bill(region: str = "all") -> None: ...

    newer.add("fresh", Every("1h"), bill)

    found = {
        each.name: each for each in differences(shop.engine, newer.declarations.schedules, owner="")
    }

    assert found["fresh"].kind == "missing"
    fields = {each.name: each for each in found["bill"].fields}
    assert {name: each.by for name, each in fields.items()} == {
        "priority": "operator",
        "queue": "both",
        "jitter": "code",
    }
    queue = fields["queue"]
    assert (queue.wanted, queue.stored, queue.declared) == ("fast", "slow", "default")


def test_differences_of_a_plan_vanish_once_it_is_applied(shop: Sempre) -> None:
    plan = reread(shop.plan.edit("bill", priority=7))

    [found] = differences_of_plan(shop.engine, plan, actor="ann")
    assert [(each.name, each.stored, each.wanted) for each in found.fields] == [
        ("priority", 1000, 7)
    ]
    shop.apply(plan)
    assert list(differences_of_plan(shop.engine, plan, actor="ann")) == []


def test_arguments_that_a_schedule_masks_are_masked_in_previews_and_differences(
    app: Sempre,
) -> None:
    @app.job(redact=["iban"])
    def bill(iban: str) -> None: ...

    app.add("bill", Every("1h"), bill.bind("DE01"))
    app.sync()
    plan = app.plan.edit("bill", args={"iban": "DE02"})

    shown = json.dumps(plan_json(plan)["steps"][0]["fields"])
    assert "[redacted]" in shown
    assert "DE0" not in shown
    [found] = differences_of_plan(app.engine, plan, actor="ann")
    assert found.redact == ("iban",)


def test_a_creation_that_was_applied_before_is_recognised(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    app.add("bill", Every("1h"), bill)
    plan = reread(app.plan.deploy())

    assert [each.done for each in (*app.apply(plan), *app.apply(plan))] == [True, False]


def test_two_applications_of_one_plan_at_once_have_one_effect(tmp_path: Path) -> None:
    apps = [Sempre(f"sqlite:///{tmp_path / 'jobs.db'}") for _ in range(4)]
    first = apps[0]

    @first.job
    def bill() -> None: ...

    first.put_schedule("bill", Cron("0 3 29 2 *"), bill)
    plan = reread(first.plan.edit("bill", priority=7))
    barrier = Barrier(len(apps))

    def apply(app: Sempre) -> bool:
        _ = app.engine
        barrier.wait()
        try:
            return app.apply(plan)[0].done
        except MovedOn:
            return False

    with ThreadPoolExecutor(len(apps)) as pool:
        done = list(pool.map(apply, apps))

    assert sum(done) == 1
    assert len(list(first.actions(target="schedule:bill", verb="edit"))) == 1
    for app in apps:
        app.close()
