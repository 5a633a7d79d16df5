"""Past definitions: what a schedule was at an instant, by the log of actions."""

from sempre.domain.action import Act, Action, action_of
from sempre.domain.past_definition import definition_in_force, revisions_of
from sempre.domain.planning import PlanningTime, plan_edit, plan_pause
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.grids import Cron, Every
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

    def then(clock: str) -> tuple[str, bool]:
        found = definition_in_force(past.schedule, past.actions, at(clock))
        return found.grid.explain(), found.is_enabled

    assert then("12:00") == ("every 10 minutes", True)
    assert then("12:10") == ("02:00 every day, Europe/Rome", True)
    assert then("12:25") == ("02:00 every day, Europe/Rome", False)
    assert then("12:30") == ("every hour", False)
    assert definition_in_force(past.schedule, past.actions, at("12:25")).until is None
    assert definition_in_force(past.schedule, past.actions, at("12:40")).until == at("20:00")


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

    assert (found.name, found.is_deleted) == ("old", False)
    assert definition_in_force(gone, [deleted, renamed], at("12:00")).is_deleted
