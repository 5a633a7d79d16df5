"""Turns: one thread goes on where runs are short, and no thread waits for a long run."""

from threading import Barrier, Event, Thread

import pytest

from sempre.executors.gil_turns import SHORT, GilTurns
from sempre.executors.threads import ThreadExecutor
from sempre.ports.executor import Ended
from tests.unit.executors.runs import Outcomes, run_of


def test_turns_matter_only_where_most_runs_are_very_short() -> None:
    turns = GilTurns()
    assert not turns.matter

    for _ in range(100):
        turns.learn(SHORT * 2)
    assert not turns.matter

    for number in range(100):
        turns.learn(SHORT * 100 if number % 5 == 0 else SHORT / 100)
    assert turns.matter


def test_a_thread_goes_on_while_another_waits_for_its_turn() -> None:
    turns, has_begun, has_turn = GilTurns(), Event(), Event()
    turns.learn(SHORT / 100)

    def other() -> None:
        has_begun.set()
        with turns.taking() as own:
            own.wait()
            has_turn.set()

    with turns.taking() as first:
        first.wait()
        waiting = Thread(target=other)
        waiting.start()
        has_begun.wait()
        for _ in range(100):
            first.note(SHORT / 100)

    waiting.join()
    assert has_turn.is_set()


@pytest.mark.parametrize("count", [2, 30])
def test_runs_that_need_each_other_run_at_once_though_those_before_were_short(count: int) -> None:
    executor, outcomes, together = ThreadExecutor(), Outcomes(), Barrier(count)
    for _ in range(200):
        executor.submit(run_of(lambda: None), outcomes)
        outcomes.next()

    for _ in range(count):
        executor.submit(run_of(lambda: together.wait() * 0), outcomes)

    assert {outcomes.next().ended for _ in range(count)} == {Ended.SUCCEEDED}
    executor.stop()
