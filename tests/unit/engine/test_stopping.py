"""A worker that stops while it is claiming: what it then gets is given back, or run to its end."""

from collections.abc import Sequence
from threading import Event

from sempre import Every, Sempre
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.ports.messages import ExecutionQuery, Order
from sempre.stores.memory import MemoryStore

# Nothing is asserted by it: as long as a claim waits to see whether it is waited for.
A_WHILE = 2.0


class SlowStore(MemoryStore):
    """A store whose first claim is answered only when the worker is about to end."""

    def __init__(self) -> None:
        super().__init__()
        self.claimed = Event()
        self.ending = Event()

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        executions = super().claim(orders, session=session)
        if any(executions) and not self.claimed.is_set():
            self.claimed.set()
            self.ending.wait(A_WHILE)
        return executions


def test_what_is_claimed_during_a_stop_is_not_left_running() -> None:
    store = SlowStore()
    app = Sempre(store)
    app.add("tick", Every(1), lambda: None)
    running = app.running()
    stop = running.executors.stop

    def stop_all() -> None:
        store.ending.set()
        stop()

    running.executors.stop = stop_all  # type: ignore[method-assign]
    running.begin()
    assert store.claimed.wait(60)

    running.end()

    rows = store.executions(ExecutionQuery()).value.items
    assert not [row for row in rows if row.state is State.RUNNING]
