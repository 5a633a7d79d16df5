"""The check of overlap="replace": only jobs whose older run can be ended may use it."""

from sempre.domain.definition import Definition
from sempre.errors import PolicyError
from sempre.ports.executor import Task

__all__ = ["check_overlap"]


def check_overlap(schedule: str, definition: Definition, task: Task | None) -> None:
    """Refuse overlap="replace" for a job that runs in threads; accept a job unknown here.

    Raises:
        PolicyError: a thread can only be asked to end, so both runs would go on at once.
    """
    if definition.overlap != "replace" or task is None or task.isolation != "thread":
        return
    hint = (
        f"The job {task.name} runs in a thread, which nothing can end: its older run would go on "
        'beside the newer one. Register the job with isolation="process", or as an async def.'
    )
    allowed = "skip, wait or allow"
    raise PolicyError(f"overlap of the schedule {schedule}", "replace", allowed=allowed, hint=hint)
