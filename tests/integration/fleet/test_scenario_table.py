"""Every scenario of the plan has a test, or says what is missing, and the tests exist."""

import pytest

from tests.integration.fleet.scenarios import PAGE, page_of, scenarios
from tests.proofs import check_proof

# Those of the plan; numbers that are not there were given up before it was written down.
PLANNED = [1, 2, 3, 4, 5, 7, 9, 11, 14, 15, 17, 19, 20, 22, 23, 24, 25, 26, 27, 28]
FOUND_LATER = [29, 30, 31, 32, 33]
TESTS = sorted({test for each in scenarios().values() for test in each["tests"]})


def test_every_scenario_is_there_once_and_in_order() -> None:
    assert list(scenarios()) == PLANNED + FOUND_LATER


@pytest.mark.parametrize("test", TESTS)
def test_a_named_test_exists_and_is_run(test: str) -> None:
    check_proof(test)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page_of(scenarios()), (
        "run: python -m tests.integration.fleet.scenarios"
    )
