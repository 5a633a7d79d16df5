"""How runs ended is recorded, whatever planning makes of one of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sempre import Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.events import Event, Happened
from sempre.engine.settler import Settler
from sempre.errors import StoreUnavailable
from sempre.ports.executor import Ended, Outcome, Run, Task
from sempre.ports.messages import Settled, Settlement
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import claimed, enqueued, read, session_of
from tests.unit.engine.test_sweeping import run_of_a_foreign_grid


def test_one_end_that_planning_cannot_deal_with_keeps_no_other_from_being_recorded() -> None:
    store = MemoryStore()
    engine = Sempre(store, broker=StoreBroker()).engine
    told: list[Event] = []
    engine.events.listen(told.append, Happened.UNKNOWN_GRID)
    manual = run_of_a_foreign_grid(store)
    session = session_of(store)
    rows = [claimed(store, identity, session) for identity in (manual.id, enqueued(store))]
    ends = [Ended.CRASHED, Ended.SUCCEEDED]
    finished = [(run_of(row), Outcome(ended)) for row, ended in zip(rows, ends, strict=True)]

    left = Settler(engine).settle(finished, session=session)

    assert [run.execution.id for run, _ in left] == [manual.id]
    assert read(store, manual.id).state is State.RUNNING
    assert read(store, rows[1].id).state is State.SUCCEEDED
    assert [event.facts["schedule"] for event in told] == ["foreign"]


@pytest.mark.parametrize("ended", [Ended.SUCCEEDED, Ended.FAILED])
def test_one_end_that_the_store_cannot_hold_keeps_no_other_from_being_recorded(
    tmp_path: Path, ended: Ended
) -> None:
    store = SqlStore(Sqlite(tmp_path / "jobs.db"))
    store.upgrade()
    engine = Sempre(store, broker=StoreBroker()).engine
    told: list[Event] = []
    engine.events.listen(told.append, Happened.FAULTY)
    session = session_of(store)
    rows = [claimed(store, enqueued(store), session) for _ in range(5)]
    finished = [(run_of(row), Outcome(Ended.SUCCEEDED)) for row in rows]
    no_json: Any = object()
    broken = Outcome(ended, no_json, error=no_json)
    finished[2] = run_of(rows[2]), broken

    left = Settler(engine).settle(finished, session=session)

    assert left == []
    states = [read(store, row.id).state for row in rows]
    assert states == [
        State.FAILED if outcome is broken and ended is Ended.FAILED else State.SUCCEEDED
        for _, outcome in finished
    ]
    assert "what it reported cannot be recorded" in str(told[0].facts["error"])
    store.close()


def test_a_store_that_does_not_answer_is_asked_for_no_end_one_by_one() -> None:
    store = Unanswering()
    engine = Sempre(store, broker=StoreBroker()).engine
    session = session_of(store)
    rows = [claimed(store, enqueued(store), session) for _ in range(5)]
    finished = [(run_of(row), Outcome(Ended.SUCCEEDED)) for row in rows]

    with pytest.raises(StoreUnavailable):
        Settler(engine).settle(finished, session=session)

    assert store.asked == 1


def run_of(row: Execution) -> Run:
    return Run(row, Task("job", print))


class Unanswering(MemoryStore):
    """A store that is gone when it is to record how runs ended."""

    asked = 0

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        self.asked += 1
        raise StoreUnavailable(f"nobody answers {session} about {len(settlements)}")
