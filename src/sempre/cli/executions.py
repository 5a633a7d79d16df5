"""Tables of executions, their attempts, and ranges of slots without one."""

from sempre.app.presentation import executions as shared
from sempre.app.presentation.executions import (
    NumberedAttempt,
    RangeOf,
    happened_at,
    has_ended,
    shown_args,
)
from sempre.cli.fields import Fields

__all__ = [
    "ATTEMPT",
    "EXECUTION",
    "RANGE",
    "NumberedAttempt",
    "RangeOf",
    "happened_at",
    "has_ended",
    "shown_args",
]

EXECUTION = Fields.of(shared.EXECUTION)
ATTEMPT = Fields.of(shared.ATTEMPT)
RANGE = Fields.of(shared.RANGE)
