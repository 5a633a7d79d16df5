"""Switches as users turn them: by job, queue, tag, pair or everything."""

import pytest

from sempre import Sempre
from sempre.brokers.memory import MemoryBroker
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.events import Event, Happened
from sempre.errors import NamingError, PolicyError
from sempre.ports.messages import ExecutionQuery, Page, Reading
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand
from tests.unit.app.test_enqueuing import run_all


def test_a_switch_refuses_new_work_and_counts_it(app: Sempre) -> None:
    @app.job(tags=["provisioning"])
    def create(number: int) -> None: ...

    switch = app.switch("provisioning")
    switch.off("incident 42", mode="reject")

    receipts = app.enqueue_many(create.bind(number) for number in range(3))

    assert [receipt.rejected_by for receipt in receipts] == ["tag:provisioning"] * 3
    state = switch.state
    assert state is not None
    assert (state.reason, state.mode, state.rejected) == ("incident 42", "reject", 3)
    switch.on()
    assert not switch.is_off
    assert create.enqueue(7).created


def test_what_a_switch_holds_runs_when_it_is_on_again(app: Sempre) -> None:
    @app.job
    def create() -> None: ...

    app.switch(create).off("incident")
    receipt = create.enqueue()
    run_all(app)
    row = receipt.execution
    assert row is not None
    assert (row.state, row.held_by) == (State.SCHEDULED, "job:create")

    app.switch("create").on()
    run_all(app)

    row = receipt.execution
    assert row is not None
    assert row.state is State.SUCCEEDED


def test_a_switch_goes_on_again_by_itself(app: Sempre, clock: Hand) -> None:
    @app.job
    def create() -> None: ...

    app.switch("queue:default").off("incident", mode="reject", until="2h")
    assert not create.enqueue().created
    clock.move(hours=2)

    assert create.enqueue().created
    assert not app.switch("queue:default").is_off


@pytest.mark.parametrize(
    ("named", "target"),
    [
        ("all", "all"),
        ("job:other", "job:other"),
        ("tag:eu", "tag:eu"),
        ("pair:create", "pair:create"),
        ("create", "job:create"),
        ("money", "tag:money"),
    ],
)
def test_what_a_switch_stops_is_named(app: Sempre, named: str, target: str) -> None:
    @app.every("1h", tags=["money"])
    def create() -> None: ...

    assert app.switch(named).target == target


@pytest.mark.parametrize("named", ["creat", "job:", "", "provisioning"])
def test_a_switch_that_would_stop_nothing_is_refused(app: Sempre, named: str) -> None:
    @app.job
    def create() -> None: ...

    with pytest.raises(NamingError, match="switch"):
        app.switch(named)


def test_a_name_of_two_things_is_refused(app: Sempre) -> None:
    @app.job(tags=["create"])
    def create() -> None: ...

    with pytest.raises(NamingError, match="job:create and tag:create"):
        app.switch("create")


def test_an_unknown_mode_is_refused(app: Sempre) -> None:
    with pytest.raises(PolicyError, match="reject, hold"):
        app.switch("all").off("x", mode="drop")  # type: ignore[arg-type]


def test_the_watchdog_tells_of_every_switch_that_is_off(app: Sempre, clock: Hand) -> None:
    told: list[Event] = []
    app.events.listen(told.append, Happened.SWITCHED_OFF)
    app.switch("pair:create").off("incident")

    app.watchdog.perform()
    clock.move(hours=1)
    app.watchdog.perform()
    app.switch("pair:create").on()
    clock.move(hours=1)
    app.watchdog.perform()

    assert [event.facts["switch"].target for event in told] == ["pair:create"] * 2


class WithoutHistory(MemoryStore):
    """A store of which nobody may read what has ended."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        raise AssertionError(query)


def test_what_was_held_is_rung_when_the_switch_is_on_again_whatever_has_ended(clock: Hand) -> None:
    broker = MemoryBroker(clock)
    app = Sempre(WithoutHistory(clock), broker=broker, clock=clock)

    @app.every("1h")
    def create() -> None: ...

    app.sync()
    app.switch("create").off("incident")
    clock.move(hours=1)
    lane = app.engine.bell.lane("default")
    broker.acknowledge(broker.reserve([lane], limit=10, wait=0))
    assert not broker.has_any(lane)

    app.switch("create").on()

    assert len(broker.reserve([lane], limit=10, wait=0)) == 1
