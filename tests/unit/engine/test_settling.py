"""How runs ended is recorded, whatever planning makes of one of them."""

from sempre import Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.states import State
from sempre.engine.claiming import Started
from sempre.engine.events import Event, Happened
from sempre.engine.settling import Finished, Settler
from sempre.ports.executor import Ended, Outcome, Run, Task
from sempre.stores.memory import MemoryStore
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
    task = Task("job", print)
    finished = [
        Finished(Started(row), Outcome(Run(row, task), ended))
        for row, ended in zip(rows, ends, strict=True)
    ]

    left = Settler(engine).settle(finished, session=session)

    assert [each.started.execution.id for each in left] == [manual.id]
    assert read(store, manual.id).state is State.RUNNING
    assert read(store, rows[1].id).state is State.SUCCEEDED
    assert [event.facts["schedule"] for event in told] == ["foreign"]
