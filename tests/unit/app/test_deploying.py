"""What a start reports: what it disabled, enabled again, left as an orphan or left disabled."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from sempre import Every, Sempre
from sempre.app.schedules.deploy import Synced
from sempre.brokers.store import StoreBroker
from sempre.ports.messages import Session
from sempre.stores.memory import MemoryStore

MINUTE = timedelta(minutes=1)


def work() -> None:
    """Stand for the user's function."""


class Code:
    """Code on one store that starts again and again, each time with other schedules."""

    def __init__(self) -> None:
        self.store = MemoryStore()

    def start(self, *names: str, **settings: Any) -> Synced:  # noqa: ANN401 - of `Sempre`
        app = Sempre(self.store, broker=StoreBroker(), **settings)
        for name in names:
            app.add(name, Every("1h"), work)
        return app.sync()

    def is_enabled(self, name: str) -> bool:
        [view] = self.store.views([name]).value
        return view.schedule.definition.enabled


@pytest.fixture
def code(caplog: pytest.LogCaptureFixture) -> Code:
    caplog.set_level(logging.INFO, "sempre")
    return Code()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


def test_what_is_disabled_and_enabled_again_is_reported(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("apples", "bread", owner="shop")

    pruned = code.start("apples", owner="shop")
    again = code.start("apples", "bread", owner="shop")

    assert pruned == Synced(disabled=("bread",))
    assert again == Synced(changed=("bread",), enabled=("bread",))
    assert warnings(caplog) == [
        (
            "bread disabled by this deploy: the code of owner shop declares it no more; "
            "try: declare it again, or: sempre enable bread"
        )
    ]
    assert caplog.messages[-1] == (
        "bread enabled by this deploy: an earlier deploy had disabled it"
    )


def test_code_below_the_newest_release_is_told_what_stays_disabled(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("apples", "bread", owner="shop", release=1)
    code.start("apples", owner="shop", release=2)
    caplog.clear()

    synced = code.start("apples", "bread", owner="shop", release=1)

    assert synced == Synced(withheld=("bread",))
    assert warnings(caplog) == [
        (
            "bread stays disabled: release 2 of owner shop declares it no more; "
            "try: deploy with release=2 or higher, or: sempre enable bread"
        )
    ]


def test_what_an_operator_enabled_is_left_alone_and_reported(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("apples", "bread", owner="shop")
    code.start("apples", owner="shop")
    Sempre(code.store, broker=StoreBroker()).schedule("bread").edit(enabled=True)
    code.store.register(Session("w1", jobs=("bread",)), lease=MINUTE)
    caplog.clear()

    synced = code.start("apples", owner="shop")

    assert synced == Synced(orphaned=("bread",))
    assert code.is_enabled("bread")
    assert warnings(caplog) == [
        (
            "bread orphaned: the code of owner shop declares it no more, "
            "and an operator enabled it; try: sempre disable bread"
        )
    ]


def test_an_edit_that_states_enabled_is_the_operators_decision(code: Code) -> None:
    code.start("apples", "bread", "cheese", owner="shop")
    code.start("apples", owner="shop")
    operator = Sempre(code.store, broker=StoreBroker())
    operator.schedule("bread").edit(enabled=False)
    operator.schedule("cheese").edit(priority=7)

    synced = code.start("apples", "bread", "cheese", owner="shop")

    assert synced.enabled == ("cheese",)
    assert not code.is_enabled("bread")


def test_without_an_owner_a_schedule_whose_job_no_worker_knows_is_orphaned(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("apples", "poll_api")

    synced = code.start("apples")

    assert synced == Synced(orphaned=("poll_api",))
    assert code.is_enabled("poll_api")
    assert warnings(caplog) == [
        (
            "poll_api orphaned: no worker knows its job poll_api; "
            "try: start a worker that declares the job, or: sempre disable poll_api"
        )
    ]


def test_a_job_that_a_live_worker_knows_makes_no_orphan(code: Code) -> None:
    code.start("apples", "bread")
    code.store.register(Session("w1", jobs=("bread",)), lease=MINUTE)

    assert code.start("apples") == Synced()


def test_other_owners_look_after_their_own(code: Code) -> None:
    code.start("bread", owner="bakery")

    assert code.start("apples", owner="shop") == Synced(created=("apples",))


def test_what_does_not_wait_for_a_slot_is_no_orphan(code: Code) -> None:
    code.start("apples", "bread")
    Sempre(code.store, broker=StoreBroker()).schedule("bread").pause()

    assert code.start("apples") == Synced()
