"""Runs: a claim as the executor gets it, and as it is recorded if a stop cuts it off."""

from datetime import datetime

from sempre.config import Settings
from sempre.engine.claims import Started
from sempre.engine.crew import Crew
from sempre.engine.settling import Finished
from sempre.ports.executor import Ended, Outcome, Run

__all__ = ["CUT_OFF", "cut_off", "run_of"]

CUT_OFF = "the worker stopped before the run ended"


def run_of(started: Started, crew: Crew, settings: Settings) -> Run:
    """Return the run of a claim: its task, how long it may take, and whether it runs alone.

    What was in flight when a process died may be the reason. Alone it can only crash itself.
    """
    execution = started.execution
    timeout = execution.snapshot.timeout or settings.timeout
    task = crew.tasks[execution.snapshot.job]
    return Run(execution, task, timeout, alone=execution.crashes > 0)


def cut_off(started: Started, now: datetime) -> Finished:
    """Return the end of a run that a stop cut off: nobody knows how far it got."""
    began = started.execution.started_at or now
    seconds = max(0.0, (now - began).total_seconds())
    return Finished(started, Outcome(Ended.INTERRUPTED, error=CUT_OFF, seconds=seconds))
