"""The seed on paired schedulers: what it promises, and the ways in which it says that they fail.

Everything happens on virtual time: a table says what is wanted, a worker runs whatever is due.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest

from sempre import Job, Sempre
from sempre.app.health.pairs import PairHealth, pairs_of
from sempre.app.health.reader import Reader
from sempre.domain.states import Kind, State
from sempre.engine.events import Event, Happened
from sempre.testing import TimeTravel

NOON = "2026-11-15 12:00:00Z"


class Shop:
    """A table of databases that are wanted, and the pair that finds them."""

    def __init__(self) -> None:
        self.app = Sempre("memory://")
        self.wanted: dict[int, str] = {}
        self.created: list[int] = []
        self.states = ["pending"]
        self.is_broken = False
        self.create: Job[[int], None] = self._job()

    def _job(self) -> Job[[int], None]:
        @self.app.job(unique=["number"])
        def create(number: int) -> None:
            if self.wanted.pop(number, None):
                self.created.append(number)

        @create.pair(every="1m", contract=lambda: list(self.wanted))
        def pending() -> Iterator[int]:
            if self.is_broken:
                raise ConnectionError("no route")
            for number, state in list(self.wanted.items()):
                if state in self.states:
                    yield number

        return create

    @property
    def health(self) -> PairHealth:
        """What `sempre pairs` and `sempre status` know."""
        reader = Reader(self.app.engine)
        return next(pairs_of(reader, reader.schedules()))


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def t(shop: Shop) -> Iterator[TimeTravel]:
    with shop.app.testing(NOON) as t:
        t.travel("1m")
        yield t


def test_what_the_users_code_enqueues_does_not_wait_for_the_pair(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = {1: "pending", 2: "pending"}
    shop.create.enqueue(1)

    t.travel("0s")
    assert shop.created == [1]

    t.travel("1m")
    assert shop.created == [1, 2]


def test_the_user_and_the_pair_at_once_lead_to_one_run(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = {1: "pending"}
    shop.create.options(delay="3m").enqueue(1)

    t.travel("5m")

    assert shop.created == [1]
    assert len(t.executions(shop.create)) == 1


def test_a_queue_can_be_dumped_entirely(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = dict.fromkeys(range(100), "pending")
    receipts = [shop.create.enqueue(number) for number in range(100)]

    assert all(receipt.cancel() for receipt in receipts)
    t.travel("1m")

    assert sorted(shop.created) == list(range(100))
    done = t.executions(shop.create, state=State.SUCCEEDED)
    assert {row.kind for row in done} == {Kind.DERIVED}


def test_what_a_switch_rejects_is_told_and_found_again(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = {1: "pending"}
    switch = shop.app.switch(shop.create)
    switch.off("an incident", mode="reject")
    assert shop.create.enqueue(1).rejected_by == "job:create"
    t.travel("1m")
    scan = shop.health.scan
    assert scan is not None
    assert (scan.rejected, shop.created) == (1, [])

    switch.on()
    t.travel("1m")

    assert shop.created == [1]


def test_each_pair_has_a_cadence_of_its_own(shop: Shop) -> None:
    @shop.app.job
    def back_up(number: int) -> None: ...

    back_up.pair(every="5m")(list)
    with shop.app.testing(NOON) as t:
        t.travel("10m")

        assert len(t.executions("pair:create")) == 10
        assert len(t.executions("pair:back_up")) == 2


def test_a_pair_can_run_on_a_cron_in_a_time_zone(shop: Shop) -> None:
    @shop.app.job
    def back_up(number: int) -> None: ...

    back_up.pair(cron="*/20 2 * * *", timezone="Europe/Rome")(list)
    with shop.app.testing(NOON) as t:
        t.travel("24h")

        looks = [row for row in t.executions("pair:back_up") if row.state is State.SUCCEEDED]
        assert [f"{row.run_at:%H:%M}" for row in looks] == ["01:00", "01:20", "01:40"]


def test_work_that_only_the_contract_finds_is_a_warning_and_reaches_listeners(
    shop: Shop, t: TimeTravel, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Event] = []
    shop.app.on(Happened.PAIR_UNCOVERED)(heard.append)
    shop.app.narrate()
    shop.wanted = {2: "partially_pending"}

    t.travel("1m")

    assert [event.facts["scan"].uncovered_work for event in heard] == [['create:{"number":2}']]
    [warning] = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert 'pair:create misses 1 that its contract finds: create:{"number":2}' in warning.message


def test_a_pair_that_somebody_has_killed_and_forgotten_is_told_of(
    shop: Shop, t: TimeTravel
) -> None:
    assert not shop.health.is_stale
    shop.app.switch("pair:create").off("an incident")

    t.travel("4m")

    assert shop.health.age == timedelta(minutes=4)
    assert shop.health.is_stale


def test_a_pair_that_a_deploy_has_broken_is_told_of_and_goes_on_after_the_next(
    shop: Shop, t: TimeTravel
) -> None:
    shop.wanted, shop.is_broken = {1: "pending"}, True
    t.travel("4m")
    assert shop.health.is_stale
    assert "no route" in shop.health.failing

    shop.is_broken = False
    t.travel("1m")

    assert shop.created == [1]
    assert not shop.health.is_stale


def test_a_pair_that_an_outage_has_stopped_looks_again_by_itself(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = {1: "pending"}
    t.outage("1h")

    t.travel("1m")

    assert shop.created == [1]


def test_a_state_that_the_query_misses_is_told_of(shop: Shop, t: TimeTravel) -> None:
    shop.wanted = {1: "pending", 2: "partially_pending"}
    t.travel("1m")
    scan = shop.health.scan
    assert scan is not None
    assert scan.uncovered_work == ['create:{"number":2}']

    shop.states.append("partially_pending")
    t.travel("1m")

    assert shop.created == [1, 2]


def test_what_a_pair_puts_in_does_not_pile_up_with_the_backlog(shop: Shop, t: TimeTravel) -> None:
    """Nobody runs the job: each look finds the same rows again, and puts nothing in."""
    shop.wanted = dict.fromkeys(range(50), "pending")
    shop.app.switch(shop.create).off("a backlog", mode="hold")

    t.travel("10m")

    scan = shop.health.scan
    assert scan is not None
    assert (scan.found, scan.enqueued, scan.already_live) == (50, 0, 50)
    assert scan.oldest_s == pytest.approx(540, abs=1)
    assert len(t.executions(shop.create, state="scheduled")) == 50


def test_looks_that_take_longer_than_their_cadence_do_not_pile_up(t: TimeTravel) -> None:
    t.takes("pair:create", "150s")

    t.travel("10m")

    assert len(t.executions("pair:create", state="running")) == 1
    assert len(t.executions("pair:create", state="skipped")) >= 6
