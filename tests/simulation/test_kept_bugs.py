"""Kept bugs: each is put into the engine, and the simulation must find it.

A simulation is only worth what it can catch. Whoever weakens it until one of these survives is
told so. All of them are hunted by `make simulate`, those that show soon by every run of the tests.
"""

import pytest

from tests.simulation.bugs import BUGS
from tests.simulation.gate import hunt
from tests.simulation.stories import STORIES

# Found by a story, or by the first few worlds.
SOON = (
    *STORIES,
    "a successor is not written",
    "a rescue ignores the lease",
    "a claim whose answer was lost starts twice",
    "the watchdogs message is not put back",
    "the attempt is the fence",
    "a pass waits for its message",
    "the ticket of a superseded row is deleted",
    "the successor is written after the claim",
    "a manual run moves the cursor",
    "a retry counts as the next row",
    "catch up begins at now",
    "tolerance counts for nothing",
)


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS)
def test_a_kept_bug_is_found(bug: str) -> None:
    assert hunt(bug).by, "it survived"


@pytest.mark.parametrize("bug", SOON)
def test_a_gross_bug_is_found_at_once(bug: str) -> None:
    assert hunt(bug, steps=500).by, "it survived"


@pytest.mark.parametrize("bug", STORIES)
def test_a_story_is_true_while_its_bug_is_not_put_in(bug: str) -> None:
    STORIES[bug]()


def test_there_are_bugs_to_be_found() -> None:
    assert len(BUGS) >= 40
    assert STORIES.keys() <= BUGS.keys()
