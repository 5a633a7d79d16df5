"""The definition of a schedule at an instant and in each period, by the log of actions."""

from datetime import datetime, timedelta

from sempre.domain.action import Act, Action, action_of
from sempre.domain.definition_history import (
    definition_at,
    definition_in_force,
    definitions_in_force,
    revisions_of,
)
from sempre.domain.planning import PlanningTime, plan_edit, plan_pause
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.grids import Cron, Every
from sempre.grids.grid import Grid
from tests.unit.domain.builders import at
from tests.unit.domain.explaining import act, schedule


class Past:
    """A schedule that is changed by plans, each with its entry in the log."""

    def __init__(self) -> None:
        self.schedule = schedule(Every("10m"))
        self.actions: list[Action] = []

    def edit(self, clock: str, **fields: object) -> None:
        to = self.schedule.definition.edited(**fields)
        self._note(clock, "edit", plan_edit(self.schedule, (), PlanningTime(at(clock)), to=to))

    def pause(self, clock: str) -> None:
        self._note(clock, "pause", plan_pause(self.schedule, (), PlanningTime(at(clock))))

    def _note(self, clock: str, verb: str, plan: object) -> None:
        entry = action_of(Act(verb, "schedule:bill", "ann"), plan, clock)  # type: ignore[arg-type]
        self.actions.insert(0, copy_with(entry, at=at(clock)))
        after = plan.schedule  # type: ignore[attr-defined]
        assert isinstance(after, Schedule)
        self.schedule = after


def test_each_edit_is_undone_down_to_the_instant() -> None:
    past = Past()
    past.edit("12:10", grid=Cron("0 2 * * *", timezone="Europe/Rome"))
    past.edit("12:20", enabled=False)
    past.edit("12:30", grid=Every("1h"), until=at("20:00"))

    def then(clock: str) -> tuple[str, object]:
        found = definition_in_force(past.schedule, past.actions, at(clock))
        return found.grid.explain(), found.facts["enabled"]

    assert then("12:00") == ("every 10 minutes", True)
    assert then("12:11") == ("02:00 every day, Europe/Rome", True)
    assert then("12:25") == ("02:00 every day, Europe/Rome", False)
    assert then("12:31") == ("every hour", False)
    assert definition_in_force(past.schedule, past.actions, at("12:25")).until is None
    assert definition_in_force(past.schedule, past.actions, at("12:40")).until == at("20:00")


def test_a_slot_at_the_instant_of_a_change_follows_the_definition_before() -> None:
    past = Past()
    past.edit("12:10", grid=Every("1h"))

    def then(instant: datetime) -> str:
        return definition_in_force(past.schedule, past.actions, instant).grid.explain()

    assert then(at("12:10")) == "every 10 minutes"
    assert then(at("12:10") + timedelta(microseconds=1)) == "every hour"


def test_a_pause_is_a_revision_with_its_fields() -> None:
    past = Past()
    past.pause("12:10")

    [revision] = revisions_of(past.actions)

    assert (revision.verb, revision.actor) == ("pause", "ann")
    assert revision.changes["paused"] == (False, True)


def test_entries_without_changed_fields_are_no_revisions() -> None:
    run = act("12:10", "run", after={"created": {"kind": "manual", "count": 1}})
    heal = act("12:11", "heal", after={"cause": "ticket lost", "count": 1})

    assert revisions_of([run, heal]) == []


def test_a_name_and_a_deletion_lead_back_too() -> None:
    renamed = act("11:00", "rename", before={"name": "old"}, after={"name": "bill"})
    deleted = act("11:30", "delete", before={"deleted": False}, after={"deleted": True, "id": "s1"})
    gone = schedule(deleted=True)

    found = definition_in_force(gone, [deleted, renamed], at("10:00"))

    assert (found.facts["name"], found.facts["deleted"]) == ("old", False)
    assert definition_in_force(gone, [deleted, renamed], at("12:00")).facts["deleted"] is True


def regrid(clock: str, before: Grid, after: Grid) -> Action:
    return act(clock, "edit", before={"grid": before.to_json()}, after={"grid": after.to_json()})


DAILY, HOURLY, WEEKLY = Every("1 day"), Every("1h"), Every("1 week")


def test_definitions_follow_the_log_backwards() -> None:
    actions = [regrid("10:00", DAILY, HOURLY), regrid("11:00", HOURLY, WEEKLY)]
    found = definitions_in_force(schedule(WEEKLY), actions)

    assert [(each.begin, each.end, each.known_grid) for each in found] == [
        (at("06:00"), at("10:00"), DAILY),
        (at("10:00"), at("11:00"), HOURLY),
        (at("11:00"), None, WEEKLY),
    ]
    assert definition_at(found, at("05:00")).grid == DAILY


def test_changes_of_an_earlier_schedule_of_the_name_are_not_undone() -> None:
    [found] = definitions_in_force(schedule(HOURLY), [regrid("05:00", DAILY, HOURLY)])

    assert (found.begin, found.grid) == (at("06:00"), HOURLY)


def test_a_change_that_the_log_lacks_makes_the_definition_doubtful() -> None:
    found = definitions_in_force(schedule(WEEKLY), [regrid("10:00", DAILY, HOURLY)])

    assert [each.known_grid for each in found] == [DAILY, None]
    assert found[1].grid == WEEKLY
    assert found[1].doubtful == {"grid"}


def test_definitions_before_the_beginning_of_the_log_are_doubtful() -> None:
    found = definitions_in_force(
        schedule(HOURLY), [regrid("10:00", DAILY, HOURLY)], known_since=at("11:00")
    )

    assert [each.known_grid for each in found] == [None, HOURLY]


def test_a_grid_that_this_process_cannot_build_is_not_known() -> None:
    foreign = {"grid": "tides", "harbour": "Genoa"}
    change = act("10:00", "edit", before={"grid": foreign}, after={"grid": HOURLY.to_json()})
    [before, after] = definitions_in_force(schedule(HOURLY), [change])

    assert (before.known_grid, after.known_grid) == (None, HOURLY)
    assert before.grid.to_json() == foreign


def test_a_grid_without_a_stored_form_is_known_as_an_object() -> None:
    class Unnamed(Every):
        name = None

    grid = Unnamed("1h")
    text = repr(grid)
    change = act("10:00", "edit", before={"grid": DAILY.to_json()}, after={"grid": text})
    back = act("11:00", "edit", before={"grid": "Other()"}, after={"grid": text})
    found = definitions_in_force(schedule(grid), [change, back])

    assert found[2].known_grid is grid
    assert found[1].known_grid is None
    assert "Other()" in found[1].grid.explain()
    assert found[0].known_grid == DAILY
