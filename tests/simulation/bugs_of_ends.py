"""Kept bugs of ends: stops and crashes that are taken for something else."""

from datetime import timedelta

from sempre.domain.planning import settlement
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
