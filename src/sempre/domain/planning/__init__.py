"""Planning decides what to do, given a schedule, its rows and the time.

Every function is pure: it reads no clock, does no I/O and makes no ids. A plan lists the writes
that belong together; the store carries out all of them or none.
"""

from sempre.domain.planning.claim import Claim, Verdict, plan_claim
from sempre.domain.planning.execution_verbs import plan_discard, plan_retry
from sempre.domain.planning.plan import Change, Plan, PlanningTime
from sempre.domain.planning.reconciliation import plan_reconcile
from sempre.domain.planning.settlement import (
    plan_cancelled,
    plan_crash,
    plan_failure,
    plan_given_up,
    plan_interruption,
    plan_release,
    plan_rescue,
    plan_retry_later,
    plan_skipped,
    plan_success,
)
from sempre.domain.planning.slot_verbs import (
    plan_backfill,
    plan_skip,
    plan_trigger,
    plan_unskip,
    slots_before_retention,
)
from sempre.domain.planning.slots import due_at, first_eligible
from sempre.domain.planning.verbs import (
    plan_delete,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_pause,
    plan_rename,
    plan_resume,
    plan_start,
)

__all__ = [
    "Change",
    "Claim",
    "Plan",
    "PlanningTime",
    "Verdict",
    "due_at",
    "first_eligible",
    "plan_backfill",
    "plan_cancelled",
    "plan_claim",
    "plan_crash",
    "plan_delete",
    "plan_disable",
    "plan_discard",
    "plan_edit",
    "plan_enable",
    "plan_failure",
    "plan_given_up",
    "plan_interruption",
    "plan_pause",
    "plan_reconcile",
    "plan_release",
    "plan_rename",
    "plan_rescue",
    "plan_resume",
    "plan_retry",
    "plan_retry_later",
    "plan_skip",
    "plan_skipped",
    "plan_start",
    "plan_success",
    "plan_trigger",
    "plan_unskip",
    "slots_before_retention",
]
