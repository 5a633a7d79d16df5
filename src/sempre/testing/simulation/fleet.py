"""The fleet: the workers of a world; a dead worker is replaced after a while."""

from collections.abc import Mapping

from sempre.domain.execution import Execution
from sempre.ports.executor import Task
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.definitions import JOBS
from sempre.testing.simulation.processes import Premises, WorkerProcess
from sempre.testing.simulation.stage import Program, Stage
from sempre.testing.simulation.timeline import Actor

__all__ = ["Fleet"]

TASKS = {job: Task(job, print) for job in JOBS}


class Fleet:
    """A number of workers; each dead worker is replaced."""

    def __init__(
        self, stage: Stage, premises: Premises, *, size: int, hands: int | None = None
    ) -> None:
        """Start `size` workers, each with `hands` hands or with a random number of hands."""
        self._stage = stage
        self._hands = hands
        self._births = 0
        self.premises = premises
        self.workers = [self._start(Program("nobody", stage)) for _ in range(size)]
        self._nurse = Actor("nurse", self._revive)
        stage.timeline.call(self._nurse, 1.0)
        stage.actors = self.actors
        premises.exchange.heard = self._hear

    def actors(self) -> list[Actor]:
        """Return every loop of every living worker."""
        return [actor for each in self._alive() for actor in each.loops.values()]

    def any_worker(self, chance: Chance) -> WorkerProcess:
        """Return a random worker, dead or alive."""
        return chance.choice(self.workers)

    def roll_out(self, chance: Chance) -> None:
        """Replace one worker by a worker of another release, which may lack some jobs."""
        known = chance.sample(JOBS, chance.choice((1, 2, len(JOBS))))
        place = chance.randrange(len(self.workers))
        self.workers[place].retire()
        self.workers[place] = self._start(self.workers[place], {job: TASKS[job] for job in known})

    def runs(self, execution: Execution) -> bool:
        """Return whether a living worker runs exactly this claim."""
        return any(execution.fence in each.executor.fences for each in self._alive())

    def heal(self) -> None:
        """Give every place a living worker that knows every job, and let every run end soon."""
        for worker in self.workers:
            worker.frozen_until = worker.cut_until = 0
            if len(worker.worker.spec.tasks) < len(JOBS):
                worker.retire()
        self._revive()
        for worker in self.workers:
            worker.executor.hurry()
            for actor in worker.loops.values():
                self._stage.timeline.call(actor)

    def _revive(self) -> float:
        """Replace dead workers; return the rest until the next check, as a supervisor would."""
        self.workers = [self._start(each) if each.is_dead else each for each in self.workers]
        return self._stage.chance.uniform(1, 20)

    def _start(self, like: Program, tasks: Mapping[str, Task] = TASKS) -> WorkerProcess:
        self._births += 1
        hands = self._hands or self._stage.chance.choice((1, 2, 4, 8))
        name, premises = f"w{self._births}", self.premises
        return WorkerProcess(name, premises, like=like, tasks=tasks, hands=hands)

    def _alive(self) -> list[WorkerProcess]:
        return [each for each in self.workers if not each.is_dead]

    def _hear(self, _lane: str, delay: float) -> None:
        """Wake every waiting fetcher when a message is due."""
        for worker in self._alive():
            worker.broker.is_rung = True
            self._stage.timeline.call(worker.loops["fetcher"], delay)
