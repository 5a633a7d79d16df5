"""Contracts that a store is known not to keep yet; each has its reason and must still fail."""

import pytest

# By test module and contract. A strict xfail: whoever mends the store has to take the line out.
KNOWN: dict[str, dict[str, str]] = {
    "test_memory": {
        "test_a_plan_that_leaves_the_schedule_alone_fits_after_a_claim": (
            "a plan that does not change its schedule writes its stale base back"
        ),
        "test_a_failure_planned_before_another_claim_moves_nothing_back": "the same, by settle",
        "test_a_late_result_is_kept_once": "a late settlement repeated is kept twice",
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = KNOWN.get(item.path.stem, {}).get(item.name.partition("[")[0])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
