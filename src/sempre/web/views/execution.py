"""The page of one execution: its path through its states, attempts, log, arguments and result."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sempre.app.presentation.executions import NumberedAttempt, has_ended
from sempre.app.presentation.run_logs import AttemptLog, logs_of
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.results import shown_result
from sempre.domain.states import RETRIABLE, State
from sempre.errors import NotFound
from sempre.ports.messages import Report
from sempre.web.answers import PageAnswer
from sempre.web.views.why import story_of_execution
from sempre.web.visit import Visit

__all__ = ["ExecutionView", "Step", "execution_page", "path_of", "read_execution"]


@dataclass(frozen=True)
class Step:
    """One station on the path of an execution through its states."""

    word: str
    at: datetime | None
    light: str
    note: str = ""


@dataclass(frozen=True)
class ExecutionView:
    """What the page of an execution shows; texts are masked.

    Attributes:
        path: the stations so far, with their times.
        attempts: with the error or result of each.
        progress: the last report of the attempt under way, or of the last one.
        verbs: the acts that make sense in its state.
    """

    row: Execution
    path: list[Step]
    attempts: list[NumberedAttempt]
    logs: list[AttemptLog]
    progress: Report | None
    args: str
    result: str
    reason: str
    verbs: tuple[str, ...]

    def error_of(self, attempt: NumberedAttempt, redact: tuple[str, ...]) -> str:
        """Return the error of an attempt, masked."""
        return redacted_text(attempt.attempt.error, (*redact, *self.row.snapshot.redact))


def read_execution(visit: Visit, identity: str) -> ExecutionView:
    """Read one execution; NotFound if there is none of the id."""
    reader, store = visit.reader, visit.store
    found = reader.engine.read_one(store.candidates([identity]))
    if found is None:
        raise NotFound("execution", identity)
    row = found.execution
    names = (*visit.redact, *row.snapshot.redact)
    attempts = reader.read(store.attempts(identity))
    numbered = [NumberedAttempt(number, attempt, row) for number, attempt in enumerate(attempts, 1)]
    reports = reader.read(store.reports([identity]))
    results = [each.attempt.result for each in numbered if each.attempt.result is not None]
    return ExecutionView(
        row=row,
        path=path_of(row, numbered),
        attempts=numbered,
        logs=logs_of(reader, row),
        # A report of an earlier attempt has an older fence.
        progress=next((each for each in reports if each.fence == row.fence), None),
        args=_json(redacted(dict(row.snapshot.args), names)) if row.snapshot.args else "",
        result=_json(shown_result(results[-1], names)) if results else "",
        reason=redacted_text(row.reason, names),
        verbs=tuple(_verbs(row)),
    )


def execution_page(visit: Visit) -> PageAnswer:
    """Return the page of one execution."""
    view = read_execution(visit, visit.params["id"])
    title = f"{view.row.snapshot.name} {view.row.id[:8]}"
    topics = () if has_ended(view.row) else ("runs",)
    story = story_of_execution(visit, view.row.id)
    values = {"view": view, "took": view.row.took, "story": story}
    return PageAnswer("execution.html", title, values, topics)


def path_of(row: Execution, attempts: list[NumberedAttempt]) -> list[Step]:
    """Return the stations of an execution: created, due, each attempt, and where it stands."""
    steps = [Step("created", row.created_at, "created", str(row.kind))]
    if row.held_by and row.is_live:
        steps.append(Step("held", None, "held", f"by {row.held_by}"))
    first = attempts[0].attempt.started_at if attempts else row.started_at
    if first is None or row.due_at <= first:
        steps.append(Step("due", row.due_at, "due"))
    steps += [
        Step(
            f"attempt {each.number}",
            each.attempt.started_at,
            "failed" if each.attempt.error else "succeeded",
            "lost" if each.attempt.lost else "late" if each.attempt.late else "",
        )
        for each in attempts
    ]
    if row.state is State.RUNNING:
        steps.append(Step(f"attempt {row.attempt}", row.started_at, "running", "runs now"))
    elif row.is_live and row.failures:
        steps.append(Step("retry", row.due_at, "scheduled", f"after {row.failures} failed"))
    elif not row.is_live:
        steps.append(Step(str(row.state), row.ended_at, str(row.state)))
    return steps


def _verbs(row: Execution) -> Iterator[str]:
    if row.state in RETRIABLE:
        yield "retry"
    if row.state is State.RUNNING or (row.is_live and not row.waits_for_slot):
        yield "cancel"
    if row.state is State.FAILED:
        yield "discard"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
