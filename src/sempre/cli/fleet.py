"""Tables of workers and queues."""

from sempre.app.presentation import fleet as shared
from sempre.app.presentation.fleet import (
    MOST_COUNTED,
    QueueBacklog,
    WorkerState,
    read_queues,
    read_workers,
    refuse_alive,
    shown_count,
)
from sempre.cli.fields import Fields

__all__ = [
    "MOST_COUNTED",
    "QUEUE",
    "WORKER",
    "QueueBacklog",
    "WorkerState",
    "read_queues",
    "read_workers",
    "refuse_alive",
    "shown_count",
]

QUEUE = Fields.of(shared.QUEUE)
WORKER = Fields.of(shared.WORKER)
