"""The mutation gate: every kept bug is put in, and has to be found; a table tells by what.

python -m tests.simulation.gate                  # all of them
python -m tests.simulation.gate "early" "cursor" # those whose names have one of these words
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from time import process_time

import pytest

from sempre.testing.simulation import Failure, simulate
from tests.simulation import (
    bugs_of_brokers,
    bugs_of_clocks,
    bugs_of_declarations,
    bugs_of_ends,
    bugs_of_lateness,
    bugs_of_limits,
    bugs_of_operators,
    bugs_of_planning,
    bugs_of_unreadable_rows,
    stories_of_brokers,
    stories_of_clocks,
    stories_of_ends,
    stories_of_limits,
    stories_of_unreadable_rows,
)
from tests.simulation.bugs import BUGS
from tests.simulation.stories import STORIES

__all__ = ["Catch", "hunt", "main"]

SECONDS = 60.0
STEPS = 1000
# Bugs and stories are kept by being imported.
assert bugs_of_brokers
assert bugs_of_declarations
assert bugs_of_ends
assert bugs_of_clocks
assert stories_of_clocks
assert bugs_of_lateness
assert bugs_of_limits
assert bugs_of_operators
assert bugs_of_planning
assert stories_of_brokers
assert stories_of_ends
assert stories_of_limits
assert bugs_of_unreadable_rows
assert stories_of_unreadable_rows


@dataclass(frozen=True)
class Catch:
    """What has become of a kept bug.

    Attributes:
        bug: its name.
        by: the promise that it broke; empty if it survived.
        seeds: how many worlds it took.
        seconds: of a processor that they took.
    """

    bug: str
    by: str
    seeds: int
    seconds: float


def hunt(bug: str, *, seconds: float = SECONDS, steps: int = STEPS) -> Catch:
    """Put a bug in and look for it, first in the story that was written for it, if there is one."""
    # By what this process has used, as others may be at work too.
    began, seeds = process_time(), 0
    with pytest.MonkeyPatch.context() as patch:
        BUGS[bug](patch)
        for seeds, by in enumerate(_attempts(bug, steps), start=1):
            if by or process_time() - began > seconds:
                return Catch(bug, by, seeds, process_time() - began)
    return Catch(bug, "", seeds, process_time() - began)


def _attempts(bug: str, steps: int) -> Iterator[str]:
    """Yield what each world finds: nothing, or the promise that was broken."""
    if bug in STORIES:
        yield _told_by_story(bug)
    for seed in count():
        try:
            simulate(seed, steps=steps)
        except Failure as failure:
            yield str(failure.__cause__ or failure)
        else:
            yield ""


def _told_by_story(bug: str) -> str:
    try:
        STORIES[bug]()
    except Exception as error:  # noqa: BLE001 - whatever it is, it shows the bug
        return f"story: {str(error).splitlines()[0]}"
    return ""


def main(words: list[str]) -> int:
    """Hunt for every bug, or for those named; return 0 if none survives."""
    chosen = [bug for bug in BUGS if not words or any(word in bug for word in words)]
    survivors = 0
    print(f"{'kept bug':<66}{'seeds':>6}{'seconds':>9}  caught by")  # noqa: T201 - a table
    for bug in chosen:
        caught = hunt(bug)
        survivors += not caught.by
        by = caught.by[:70] or "NOTHING: it survives"
        print(f"{bug:<66}{caught.seeds:>6}{caught.seconds:>9.1f}  {by}", flush=True)  # noqa: T201
    print(f"{len(chosen) - survivors} of {len(chosen)} kept bugs are caught")  # noqa: T201
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
