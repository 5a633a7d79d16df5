"""Causes: the codes of all that an explanation can say. A code never changes its meaning."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

__all__ = ["Cause", "Code", "Explanation", "Fact", "Verdict"]

Fact: TypeAlias = str | int | bool | datetime | timedelta | tuple[str, ...] | None
"""A value that a sentence mentions."""


class Verdict(StrEnum):
    """The one-line answer: what became of a slot or an execution."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    SKIPPED = "skipped"
    MISSED = "missed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    WILL_RUN = "will_run"
    WILL_NOT_RUN = "will_not_run"
    UNDECIDED = "undecided"
    """The slot has passed, and an earlier slot of its schedule is still to be decided."""
    NEVER_EXISTED = "never_existed"
    PURGED = "purged"
    NOT_TOLD = "not_told"
    """The records do not tell."""


class Code(StrEnum):
    """What a cause says. Words for programs: `wording` has the sentence of each."""

    # The grid
    ON_GRID = "on_grid"
    ANCHORED = "anchored"
    GAP_SHIFTED = "gap_shifted"
    FOLD_FIRST = "fold_first"
    FOLD_SECOND = "fold_second"
    ASKED_IN_GAP = "asked_in_gap"
    NOT_ON_GRID = "not_on_grid"
    GAP_SKIPPED = "gap_skipped"
    BEFORE_ANCHOR = "before_anchor"
    UNKNOWN_GRID = "unknown_grid"
    REGRIDDED = "regridded"
    # The schedule
    BEFORE_CREATION = "before_creation"
    AFTER_UNTIL = "after_until"
    LIMIT_REACHED = "limit_reached"
    ENDED = "ended"
    BROKEN = "broken"
    PAUSED = "paused"
    DISABLED = "disabled"
    DISABLED_BY_DEPLOY = "disabled_by_deploy"
    DELETED = "deleted"
    RENAMED = "renamed"
    EDITED = "edited"
    PURGED = "purged"
    # Creation
    CREATED = "created"
    CREATED_BY_PREDECESSOR = "created_by_predecessor"
    CREATED_BY_WATCHDOG = "created_by_watchdog"
    CREATED_LATE = "created_late"
    TRIGGERED = "triggered"
    BACKFILLED = "backfilled"
    ENQUEUED = "enqueued"
    DERIVED = "derived"
    JITTERED = "jittered"
    # Waits
    HELD_BY_SWITCH = "held_by_switch"
    HELD_BY_LIMIT = "held_by_limit"
    WAITED_FOR_RUN = "waited_for_run"
    TICKET_LOST = "ticket_lost"
    QUEUE_LOST = "queue_lost"
    UNANNOUNCED = "unannounced"
    NO_WORKER = "no_worker"
    WORKER_BUSY = "worker_busy"
    LATE_NOT_TOLD = "late_not_told"
    # Decisions without a run
    SKIPPED_BY_OPERATOR = "skipped_by_operator"
    SKIP_TAKEN_BACK = "skip_taken_back"
    OVERLAPPED = "overlapped"
    REJECTED_BY_SWITCH = "rejected_by_switch"
    PAST_DEADLINE = "past_deadline"
    DECIDED_BY_CLOCK = "decided_by_clock"
    MISSED_IN_RANGE = "missed_in_range"
    HELD_IN_RANGE = "held_in_range"
    PASSED_IN_RANGE = "passed_in_range"
    DOWNTIME = "downtime"
    # Runs
    ATTEMPT_SUCCEEDED = "attempt_succeeded"
    ATTEMPT_FAILED = "attempt_failed"
    ATTEMPT_LOST = "attempt_lost"
    ATTEMPT_LATE = "attempt_late"
    ATTEMPT_ENDED = "attempt_ended"
    ATTEMPT_RUNNING = "attempt_running"
    RETRIED_BY_POLICY = "retried_by_policy"
    RERUN_BY_POLICY = "rerun_by_policy"
    RETRIED_LATER = "retried_later"
    RETRIED_BY_OPERATOR = "retried_by_operator"
    RETRIES_EXHAUSTED = "retries_exhausted"
    NOT_RETRIED = "not_retried"
    GAVE_UP = "gave_up"
    QUARANTINED = "quarantined"
    UNKNOWN_OUTCOME = "unknown_outcome"
    COALESCED = "coalesced"
    STOPPED_MEANWHILE = "stopped_meanwhile"
    FOUND_NOTHING_TO_DO = "found_nothing_to_do"
    CANCELLED_BY_OPERATOR = "cancelled_by_operator"
    DISCARDED = "discarded"
    REPLACED = "replaced"
    SUPERSEDED = "superseded"
    # What is still to come
    DUE = "due"
    NEXT = "next"
    EXPECTED = "expected"
    BEHIND = "behind"
    OTHER_RUN = "other_run"
    NOT_TOLD = "not_told"


@dataclass(frozen=True)
class Cause:
    """One reason why a slot or an execution is as it is.

    Attributes:
        code: what the cause says, for programs.
        at: when it happened, if that is one instant.
        facts: the values that the sentence mentions.
    """

    code: Code
    at: datetime | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """Why a slot or an execution is as it is.

    Attributes:
        name: of the schedule, or of the job of one-off work.
        verdict: what became of the slot or execution.
        causes: why, in order.
        slot: the slot; None for one-off work.
        execution: the id of the row that decided; empty without a row.
        zone: the time zone in which a person reads its times.
        late: how long after it was due the first attempt started; None without a start.
        told_at: the store's now when the records were read, if they were.
    """

    name: str
    verdict: Verdict
    causes: tuple[Cause, ...]
    slot: datetime | None = None
    execution: str = ""
    zone: str = "UTC"
    late: timedelta | None = None
    told_at: datetime | None = None

    def __str__(self) -> str:
        """Return the answer in words: the verdict, then each cause with its time."""
        # Imported here: the words know the codes.
        from sempre.domain.explanation.wording import told  # noqa: PLC0415

        return "\n".join(told(self))

    def codes(self) -> list[Code]:
        """Return the codes of the causes, in order."""
        return [cause.code for cause in self.causes]
