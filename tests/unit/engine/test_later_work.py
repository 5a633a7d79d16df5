"""With the store as broker, a worker knows of work for later that other processes have put in."""

from datetime import timedelta

from sempre import Sempre
from sempre.brokers.store import StoreBroker
from sempre.engine.fetcher import Fetcher
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.executor import Run, Task
from sempre.ports.messages import Session
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand


def test_each_piece_of_later_work_is_looked_for_when_it_is_due() -> None:
    clock = Hand()
    store = MemoryStore(clock)
    app = Sempre(store, broker=StoreBroker(), clock=clock)

    @app.job
    def send(number: int) -> None: ...

    for number in (1, 2, 3):
        send.options(delay=number).enqueue(number)
    begun = list[Run]()
    spec = WorkerSpec({"send": Task("send", print)}, frozenset({"default"}), 10)
    fetcher = Fetcher(app.engine, spec=spec, begin=begun.extend, called=print)
    store.register(Session("one"), lease=timedelta(hours=1))

    for number in range(4):
        # Without knowing that something is due it would wait, and never end here.
        fetcher.step(session="one", limit=10)
        assert [each.execution.snapshot.args["number"] for each in begun] == [1, 2, 3][:number]
        clock.move(seconds=1)
