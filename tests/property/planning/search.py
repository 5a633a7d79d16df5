"""Searches for a broken invariant, deeper than a test run does: `python -m` this module.

Ends with 1 and a sequence of events that breaks one, or with 0.
"""

import sys

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.planning.test_any_order_of_events import AnyOrder


def search(examples: int) -> None:
    """Try so many random sequences of events."""
    thorough = settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        database=None,
        # Not shrunk: that takes minutes, and here only the verdict counts.
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(AnyOrder, settings=thorough)


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
