"""The table of schedules: the state, the last run, and the history drawn in one line."""

from sempre.app.presentation import schedules as shared
from sempre.app.presentation.schedules import (
    LIGHTS,
    Summary,
    history_bar,
    state_text,
    summaries_of,
)
from sempre.cli.fields import Fields

__all__ = ["LIGHTS", "SCHEDULE", "Summary", "history_bar", "state_text", "summaries_of"]

SCHEDULE = Fields.of(shared.SCHEDULE)
