from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sempre.domain.declaration import declaration_of, plan_declare
from sempre.domain.definition import Definition, define
from sempre.domain.planning import Plan, PlanningTime, plan_edit, plan_start
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.grids import Cron, Every

if TYPE_CHECKING:
    from sempre.domain.execution import Execution

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MOMENT = PlanningTime(NOW, "2026.1")


def hourly(**policies: object) -> Definition:
    return define(job="bill", grid=Every("1h"), **policies)


class Deployed:
    """A schedule that code declares again and again."""

    def __init__(self, definition: Definition, release: int = 0) -> None:
        schedule = Schedule(id="s1", name="bill", definition=definition, created_at=NOW, cursor=NOW)
        declared = declaration_of(definition, release)
        self.schedule = copy_with(schedule, declared=declared)
        self.rows: list[Execution] = []
        self.superseded = 0
        self._apply(plan_start(self.schedule, (), MOMENT))

    def deploy(self, definition: Definition, release: int = 0) -> Plan:
        plan = plan_declare(self.schedule, self.rows, MOMENT, to=definition, release=release)
        self._apply(plan)
        return plan

    def edit(self, **changes: object) -> None:
        to = self.schedule.definition.edited(**changes)
        self._apply(plan_edit(self.schedule, self.rows, MOMENT, to=to, actor="ann"))

    def _apply(self, plan: Plan) -> None:
        self.schedule = plan.schedule or self.schedule
        ended = {change.before.id for change in plan.changes}
        states = [change.after.state for change in plan.changes]
        self.superseded += states.count(State.SUPERSEDED)
        self.rows = [row for row in self.rows if row.id not in ended]
        count = len(self.rows)
        self.rows += [
            draft.born(f"e{count}-{self.schedule.revision}-{place}", NOW)
            for place, draft in enumerate(plan.creates)
        ]


def test_the_same_declaration_changes_nothing() -> None:
    deployed = Deployed(hourly())
    assert deployed.deploy(hourly()).is_empty


def test_a_changed_field_is_applied_and_the_next_row_follows() -> None:
    deployed = Deployed(hourly())
    deployed.deploy(define(job="bill", grid=Cron("30 * * * *")))
    assert deployed.schedule.definition.grid == Cron("30 * * * *")
    assert [row.run_at.minute for row in deployed.rows] == [30]


def test_an_operators_edit_of_another_field_stays() -> None:
    deployed = Deployed(hourly())
    deployed.edit(priority=5)
    deployed.deploy(hourly(note="for the auditors"))
    assert deployed.schedule.definition.priority == 5
    assert deployed.schedule.definition.note == "for the auditors"


def test_a_field_that_the_code_changes_wins_over_an_operators_edit() -> None:
    deployed = Deployed(hourly(priority=10))
    deployed.edit(priority=5)
    deployed.deploy(hourly(priority=20))
    assert deployed.schedule.definition.priority == 20


def test_an_older_release_changes_nothing() -> None:
    deployed = Deployed(hourly(), release=2)
    assert deployed.deploy(hourly(priority=1), release=1).is_empty


def test_a_new_release_of_the_same_code_supersedes_nothing() -> None:
    deployed = Deployed(hourly(), release=1)
    plan = deployed.deploy(hourly(), release=2)
    assert not plan.changes
    assert not plan.creates
    assert deployed.deploy(hourly(priority=1), release=1).is_empty


def test_twenty_alternating_restarts_of_old_and_new_code_supersede_once() -> None:
    old, new = hourly(), hourly(queue="critical")
    deployed = Deployed(old, release=1)
    for _ in range(10):
        deployed.deploy(new, release=2)
        deployed.deploy(old, release=1)
    assert deployed.superseded == 1
    assert deployed.schedule.definition.queue == "critical"


def test_a_schedule_made_at_run_time_is_taken_over_by_code_that_declares_it() -> None:
    deployed = Deployed(hourly())
    deployed.schedule = copy_with(deployed.schedule, declared="")
    deployed.deploy(hourly(priority=7))
    assert deployed.schedule.definition.priority == 7


def test_one_and_true_are_different_declarations() -> None:
    deployed = Deployed(hourly(args={"full": True}))
    deployed.deploy(hourly(args={"full": 1}))
    assert deployed.schedule.definition.args == {"full": 1}
    assert deployed.schedule.definition.args["full"] is not True
