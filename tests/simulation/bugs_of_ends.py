"""Kept bugs of ends: stops and crashes that are taken for something else."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, plan_failure, settlement
from sempre.domain.policies import Retry
from sempre.engine import settler
from sempre.engine.worker import Worker
from sempre.ports.executor import Run
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def a_run_that_a_stop_cut_off_is_given_back_as_if_it_had_not_begun(patch: Patch) -> None:
    def give_back(self: Worker) -> None:
        for run in self.capacity.running():
            self._ends.release(run)

    patch.setattr(Worker, "_cut_off", give_back)


@bug
def what_was_in_flight_when_a_process_died_runs_again_beside_others(patch: Patch) -> None:
    patch.setattr(Run, "is_alone", False)


@bug
def a_crash_is_run_again_without_a_wait(patch: Patch) -> None:
    patch.setattr(settlement, "crash_wait", lambda _crashes: timedelta(0))


@bug
def a_failure_is_tried_again_whatever_its_type(patch: Patch) -> None:
    def covers(_self: Retry, _types: Iterable[str]) -> bool:
        return True

    patch.setattr(Retry, "covers", covers)


@bug
def the_jitter_of_a_retry_shortens_its_wait(patch: Patch) -> None:
    original = Retry.wait

    def wait(self: Retry, failures: int, execution_id: str = "") -> timedelta:
        return original(self, failures, execution_id) - self.jitter

    patch.setattr(Retry, "wait", wait)


@bug
def a_later_try_uses_up_a_retry(patch: Patch) -> None:
    def failure(schedule: Any, row: Execution, moment: Any, **_asked: object) -> Plan:  # noqa: ANN401
        return plan_failure(schedule, row, moment)

    patch.setattr(settler, "plan_retry_later", failure)


@bug
def what_gave_up_is_tried_again(patch: Patch) -> None:
    def failure(row: Execution, moment: Any, *, reason: str) -> Plan:  # noqa: ANN401
        return plan_failure(None, row, moment, error=reason)

    patch.setattr(settler, "plan_given_up", failure)
