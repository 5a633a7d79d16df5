"""The judge of retries: what follows a run that failed, asked for a later try or gave up.

The judge compares the row with the log of what the run reported, without calls to planning.
"""

from datetime import timedelta

from sempre.domain.execution import Execution
from sempre.domain.policies import Retry
from sempre.domain.states import Reason
from sempre.ports.executor import Ended, Outcome
from sempre.testing.simulation.stage import Broken

__all__ = ["judge_next_try"]

FAILURES = (Ended.FAILED, Ended.TIMED_OUT)


def judge_next_try(before: Execution, after: Execution, outcome: Outcome | None) -> None:
    """Raise Broken if the end of an attempt, as its own worker recorded it, breaks its policy."""
    if outcome is None or after.reason.startswith(Reason.COALESCED):
        return
    failed = after.failures - before.failures
    if failed != (outcome.ended in (*FAILURES, Ended.GAVE_UP)):
        raise Broken(f"{after.id} {outcome.ended}, and {failed} failures were counted")
    if not after.is_live:
        return
    if outcome.ended is Ended.GAVE_UP:
        raise Broken(f"{after.id} gave up, and is tried again")
    waits = after.due_at - (after.finished_at or after.due_at)
    if outcome.ended is Ended.RETRY_LATER and waits != outcome.after:
        raise Broken(f"{after.id} asked for a try after {outcome.after}, and waits {waits}")
    if outcome.ended in FAILURES:
        _judge_retry(after, waits, outcome.types)


def _judge_retry(row: Execution, waits: timedelta, types: tuple[str, ...]) -> None:
    retry = row.snapshot.retry
    if row.failures > retry.limit:
        raise Broken(f"{row.id} is tried again after {row.failures} failures, by {retry}")
    least = min(retry.cap, retry.base * 2 ** (row.failures - 1))
    if not least <= waits <= least + retry.jitter:
        raise Broken(f"{row.id} waits {waits} after failure {row.failures}, by {retry}")
    if _is_final(retry, set(types)):
        raise Broken(f"{row.id} is tried again after {types[0]}, by {retry}")


def _is_final(retry: Retry, types: set[str]) -> bool:
    return bool(types & set(retry.never)) or bool(retry.only and not types & set(retry.only))
