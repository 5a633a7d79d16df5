"""A job by its name alone: enqueued by an operator, in a process without the user's code."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sempre.domain.action import Action
from sempre.domain.arguments import Json, check_arguments
from sempre.domain.definition import read_fields
from sempre.domain.execution import Execution
from sempre.domain.names import check_note
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.engine.core import Engine
from sempre.engine.ids import new_id
from sempre.errors import NotFound, nearest
from sempre.ports.messages import Enqueued, ExecutionQuery, ScheduleQuery, Work

__all__ = ["NamedJob"]

MOST_SCHEDULES = 500
ONE_OFF = frozenset({Kind.ENQUEUED, Kind.DERIVED})


class NamedJob:
    """A job that workers or records of the store know by name.

    The queue, priority, retries and time limit of a run are those of the job's newest one-off
    execution, or else of a schedule of the job, or else the defaults.
    """

    def __init__(self, engine: Engine, name: str, *, actor: str = "") -> None:
        """Name a job; `enqueue` raises NotFound if nothing in the store knows it."""
        self._engine = engine
        self._actor = actor
        self.name = name

    def enqueue(
        self,
        args: Mapping[str, Json],
        *,
        due_at: datetime | None = None,
        why: str = "",
        **policy: Any,  # noqa: ANN401 - fields of a definition, as a user wrote them
    ) -> Enqueued:
        """Enqueue one execution, and log it.

        Arguments are checked by the worker that runs the job: this process has no signature.

        Raises:
            NotFound: no live worker, schedule or execution knows the job.
            InvalidInput: arguments that are not JSON, or a policy that is not accepted.
        """
        engine, now = self._engine, self._engine.present()
        rules = copy_with(self._rules(), args=check_arguments(args), **read_fields(policy))
        due_at = due_at or now
        row = Execution(
            id=new_id(now),
            kind=Kind.ENQUEUED,
            run_at=due_at,
            due_at=due_at,
            snapshot=rules,
            state=State.PENDING if engine.bell.carries else State.SCHEDULED,
            created_at=now,
            actor=self._actor,
        )
        note = check_note("why", why)
        [answer] = engine.store.enqueue([Work(row)])
        if answer.created:
            engine.bell.ring([row], now)
            engine.store.record([self._action(row, note)])
        return answer

    def _rules(self) -> Snapshot:
        """Return the rules of the job's runs, as far as the store tells."""
        found = self._of_executions() or self._of_schedules()
        if found is not None:
            return found
        known = self._jobs_of_workers()
        if self.name not in known:
            raise NotFound("job", self.name, hint=nearest(self.name, sorted(known)))
        return Snapshot(name=self.name, job=self.name)

    def _of_executions(self) -> Snapshot | None:
        query = ExecutionQuery(job=self.name, kinds=ONE_OFF, limit=1)
        page = self._engine.read(self._engine.store.executions(query))
        return page.items[0].snapshot if page.items else None

    def _of_schedules(self) -> Snapshot | None:
        query = ScheduleQuery(job=self.name, limit=1)
        page = self._engine.read(self._engine.store.schedules(query))
        if not page.items:
            return None
        declared = page.items[0].definition
        return Snapshot(
            name=self.name,
            job=self.name,
            queue=declared.queue,
            priority=declared.priority,
            retry=declared.retry,
            timeout=declared.timeout,
            on_unknown=declared.on_unknown,
            tags=declared.tags,
            redact=declared.redact,
        )

    def _jobs_of_workers(self) -> set[str]:
        sessions = self._engine.read(self._engine.store.sessions())
        page = self._engine.read(self._engine.store.schedules(ScheduleQuery(limit=MOST_SCHEDULES)))
        jobs = {job for session in sessions for job in session.jobs}
        return jobs | {schedule.definition.job for schedule in page.items}

    def _action(self, row: Execution, note: str) -> Action:
        after: dict[str, Json] = {"execution": row.id, "args": dict(row.snapshot.args)}
        return Action(
            id=new_id(row.created_at),
            verb="enqueue",
            target=f"job:{self.name}",
            actor=self._actor,
            note=note,
            after=after,
        )
