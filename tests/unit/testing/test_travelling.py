import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Cron, Every, Sempre, current
from sempre.domain.states import State
from sempre.errors import InstantError, IntervalError, Refused
from sempre.stores.memory import MemoryStore
from sempre.testing import TimeTravel
from tests.unit.testing.shop import Shop

START = "2026-03-28 12:00Z"


def starts(t: TimeTravel, name: str) -> list[str]:
    return [f"{row.started_at:%d %H:%M:%S}" for row in t.executions(name)]


def test_every_slot_of_a_day_runs_at_its_instant_and_in_order(shop: Shop) -> None:
    midnight, quarter = datetime(2026, 5, 1, tzinfo=UTC), timedelta(minutes=15)
    with shop.app.testing(midnight) as t:
        t.travel("1 day")
        rows = t.executions(shop.refresh)

    assert [row.started_at for row in rows] == [midnight + n * quarter for n in range(1, 97)]
    assert {row.state for row in rows} == {State.SUCCEEDED}
    assert [each for each in shop.done if "refresh" in each][:2] == [
        "refresh 01 00:15",
        "refresh 01 00:30",
    ]


def test_a_time_that_the_clock_skips_runs_after_the_gap(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("2 days")

        assert starts(t, "report") == ["29 01:00:00", "30 00:30:00"]


def test_a_day_of_the_clock_change_has_one_hour_less_or_more() -> None:
    app = Sempre("memory://")
    app.add("hourly", Cron("0 * * * *", timezone="Europe/Rome"), lambda: None)
    ran = []
    for day in ("2026-03-28 23:00Z", "2026-10-24 22:00Z"):
        with app.testing(day, call_jobs=False) as t:
            t.travel_to(Cron("0 0 * * *", timezone="Europe/Rome").times(t.now, 1)[0])
            ran.append(len(t.executions("hourly")))

    assert ran == [23, 25]


def test_async_jobs_and_those_of_processes_run_inline_with_their_current_run(shop: Shop) -> None:
    with shop.app.testing("2026-05-01 00:00Z") as t:
        t.travel("31m")
        assert sorted(shop.done[1:]) == ["mail ann all", "refresh 01 00:30", "report 1"]

        [report] = t.executions(shop.report)
        assert report.due_at == datetime(2026, 5, 1, 0, 30, tzinfo=UTC)


def test_async_jobs_share_one_loop_that_is_closed_at_the_end() -> None:
    app, loops = Sempre("memory://"), []

    @app.every("1h")
    async def job() -> None:
        loops.append(asyncio.get_running_loop())

    with app.testing(START) as t:
        t.travel("2h")

    assert len(loops) == 2
    assert loops[0] is loops[1]
    assert loops[0].is_closed()


def test_async_jobs_run_inside_a_test_that_has_a_loop_of_its_own(shop: Shop) -> None:
    async def test() -> None:
        with shop.app.testing("2026-05-01 00:00Z") as t:
            t.travel("1h")
            t.assert_ran(shop.report, times=1)

    asyncio.run(test())


def test_a_job_that_raises_is_tried_again_by_its_policy(shop: Shop) -> None:
    shop.trouble = 1
    with shop.app.testing(START) as t:
        t.travel_to("2026-03-29 01:00:09Z")
        [waiting] = t.executions(shop.report)
        assert (waiting.state, waiting.attempt) == (State.SCHEDULED, 1)
        assert "ConnectionError: no route to all" in waiting.reason

        t.travel("1s")
        [row] = t.executions(shop.report)

    assert (row.state, row.attempt, row.failures) == (State.SUCCEEDED, 2, 1)


def test_a_job_that_always_raises_ends_as_failed_with_its_error(shop: Shop) -> None:
    shop.trouble = 99
    with shop.app.testing(START) as t:
        t.travel("1 day")

        [row] = t.executions(shop.report, state="failed")

    assert row.attempt == 3
    assert "ConnectionError: no route to all" in row.reason
    assert row.finished_at == datetime(2026, 3, 29, 1, 0, 30, tzinfo=UTC)


def test_what_is_put_in_runs_when_time_is_let_pass(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        shop.mail.enqueue("bob")
        shop.mail.options(delay="1h", queue="slow").enqueue("cleo")
        assert shop.done == []

        t.travel("0s")
        assert shop.done == ["mail bob hello"]

        t.travel_to("2026-03-28 13:00Z")
        assert "mail cleo hello" in shop.done


def test_the_applications_verbs_act_on_the_virtual_store(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("1h")
        shop.app.schedule("refresh").pause(until="1h")
        t.travel("1h")
        assert len(t.executions(shop.refresh)) == 5
        shop.app.schedule("report").trigger()
        t.travel("30m")

        assert len(t.executions(shop.refresh)) == 7
        t.assert_ran("report", times=1)


def test_history_of_a_schedule_goes_by_retention_and_that_of_a_journey_does_not() -> None:
    app = Sempre("memory://", retention="10d")
    app.add("daily", Every("1d"), lambda: None, keep=0)
    with app.testing(START) as t:
        t.travel("60d")

        assert len(t.executions("daily")) == 60
        assert len(app.schedule("daily").executions(limit=100)) in (11, 12)
        assert app.schedule("daily").backfill("2026-05-20 00:00Z", "2026-05-27 00:00Z") == []


def test_a_journey_keeps_as_many_executions_as_a_schedule_wants() -> None:
    app = Sempre("memory://", retention="10d")
    app.add("weekly", Every("7d"), lambda: None, keep=5)
    app.add("daily", Every("1d"), lambda: None, keep=20, retention="1d")
    with app.testing(START) as t:
        t.travel("100d")

        assert len(t.executions("weekly", state="succeeded")) in (14, 15)
        kept = app.schedule("weekly").executions(limit=100)
        assert len([row for row in kept if row.state == "succeeded"]) in (5, 6)
        kept = app.schedule("daily").executions(limit=100)
        assert len([row for row in kept if row.state == "succeeded"]) in (20, 21)


def test_a_run_takes_no_time_unless_told_so() -> None:
    app = Sempre("memory://")

    @app.every("10m")
    def job() -> None: ...

    with app.testing(START) as t:
        t.travel("20m")
        t.takes(job, "15m")
        t.travel("40m")
        ran, skipped = t.executions(job), t.executions(job, state="skipped")

    assert [f"{row.started_at:%M}" for row in ran] == ["10", "20", "30", "50"]
    assert [(f"{row.due_at:%M}", row.reason) for row in skipped] == [
        ("40", "overlap"),
        ("00", "overlap"),
    ]
    assert ran[2].finished_at == datetime(2026, 3, 28, 12, 45, tzinfo=UTC)
    assert ran[3].state is State.RUNNING


def test_a_row_that_waits_for_another_starts_when_that_ends() -> None:
    app = Sempre("memory://")

    @app.every("10m", overlap="wait")
    def job() -> None: ...

    with app.testing(START) as t:
        t.takes(job, "12m")
        t.travel("45m")

        assert starts(t, "job") == ["28 12:10:00", "28 12:22:00", "28 12:34:00"]


def test_a_newer_run_replaces_the_older_one() -> None:
    app = Sempre("memory://")

    @app.every("10m", overlap="replace", isolation="process")
    def job() -> None: ...

    with app.testing(START) as t:
        t.takes(job, "12m")
        t.travel("25m")
        old, new = t.executions(job)

    assert (old.state, new.state) == (State.CANCELLED, State.RUNNING)
    assert "replaced" in old.reason


def test_a_run_that_takes_longer_than_its_timeout_fails_then() -> None:
    app = Sempre("memory://")

    @app.every("1d", timeout="10m")
    def job() -> None: ...

    with app.testing(START) as t:
        t.takes(job, "1h")
        t.travel("1d")
        [row] = t.executions(job)

    assert row.state is State.FAILED
    assert row.finished_at == datetime(2026, 3, 29, 0, 10, tzinfo=UTC)


def test_a_row_that_waits_too_long_misses_its_deadline_meanwhile() -> None:
    app = Sempre("memory://")

    @app.every("1h", overlap="wait", deadline="10m")
    def job() -> None: ...

    with app.testing(START) as t:
        t.takes(job, "90m")
        t.travel("140m")
        [missed] = t.executions(job, state="missed")

    assert missed.finished_at is not None
    late = missed.finished_at - missed.due_at
    assert timedelta(minutes=10) < late <= timedelta(minutes=10, seconds=15)


def test_the_applications_own_store_is_untouched_and_back_at_the_end() -> None:
    store = MemoryStore()
    app = Sempre(store)

    @app.every("1h")
    def job() -> None: ...

    clock, own = app.clock, app.engine
    with app.testing(START) as t:
        assert app.engine is not own
        job.enqueue()
        t.travel("1d")

    assert app.engine is own
    assert app.clock is clock
    assert store.views(["job"]).value == []


def test_an_exception_gives_the_application_its_store_back() -> None:
    app = Sempre("memory://")
    own = app.engine

    with pytest.raises(ZeroDivisionError), app.testing(START):
        _ = 1 / 0

    assert app.engine is own


def test_a_declaration_that_cannot_be_brought_in_gives_the_store_back_too() -> None:
    app = Sempre("memory://")
    own = app.engine
    app.add("job", Every("1h"), lambda: None)
    app.declarations.schedules["job"] = None  # type: ignore[assignment]

    with pytest.raises(AttributeError), app.testing(START):
        pass

    assert app.engine is own


def test_journeys_one_after_the_other_know_nothing_of_each_other(shop: Shop) -> None:
    for _ in range(2):
        with shop.app.testing(START) as t:
            t.travel("1h")
            assert len(t.executions()) == 4


def test_a_journey_within_a_journey_is_refused_and_the_outer_one_goes_on(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        with pytest.raises(Refused, match="already"), shop.app.testing(START):
            pass
        t.travel("1h")
        assert len(t.executions()) == 4


def test_a_journey_is_made_once_and_can_be_asked_about_later(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("1h")

    assert len(t.executions("refresh")) == 4
    with pytest.raises(Refused, match="not under way"):
        t.travel("1h")
    with pytest.raises(Refused, match="once"), t:
        pass


def test_a_job_cannot_travel() -> None:
    app = Sempre("memory://")

    @app.every("1h")
    def job() -> None:
        t.travel("1h")

    with app.testing(START) as t:
        t.travel("1h")
        [row] = t.executions(job)

    assert "a job cannot travel" in row.reason


def test_a_job_that_puts_itself_in_without_end_is_found() -> None:
    app = Sempre("memory://")

    @app.job
    def job() -> None:
        job.enqueue()

    with app.testing(START, call_jobs=True) as t:
        job.enqueue()
        with pytest.raises(Refused, match="without a delay"):
            t.travel("1h")


def test_an_interrupt_is_of_whoever_runs_the_tests() -> None:
    app = Sempre("memory://")

    @app.every("1h")
    def job() -> None:
        raise KeyboardInterrupt

    with app.testing(START) as t, pytest.raises(KeyboardInterrupt):
        t.travel("1h")


def test_jobs_are_not_called_if_that_is_asked_for(shop: Shop) -> None:
    with shop.app.testing(START, call_jobs=False) as t:
        t.travel("1h")

        assert len(t.executions(state="succeeded")) == 4
    assert shop.done == []


def test_an_instant_that_no_journey_can_begin_at_or_reach_is_refused(shop: Shop) -> None:
    with pytest.raises(InstantError, match="zone"):
        shop.app.testing(datetime(2026, 3, 29))  # noqa: DTZ001 - the mistake

    with shop.app.testing(datetime(2026, 3, 29, tzinfo=UTC)) as t:
        with pytest.raises(InstantError, match="or later"):
            t.travel_to("2026-03-28 23:59Z")
        with pytest.raises(IntervalError):
            t.travel("-1h")
        assert t.now == datetime(2026, 3, 29, tzinfo=UTC)


def test_current_tells_the_virtual_time_that_is_left() -> None:
    app, left = Sempre("memory://"), []

    @app.every("1h", timeout="10m")
    def job() -> None:
        left.append((current().seconds_left, current().times_out_at))

    with app.testing(START) as t:
        t.travel("1h")

    assert left == [(600.0, datetime(2026, 3, 28, 13, 10, tzinfo=UTC))]


def test_a_slot_a_microsecond_after_the_start_runs_at_its_instant() -> None:
    app = Sempre("memory://")
    app.add("job", Every("1h"), lambda: None)
    with app.testing(datetime(2026, 3, 28, 11, 59, 59, 999_999, tzinfo=UTC)) as t:
        t.travel("2h")

        assert starts(t, "job") == ["28 12:00:00", "28 13:00:00"]


def test_a_journey_is_the_same_every_time() -> None:
    app, done = Sempre("memory://"), []

    @app.job
    def note(text: str) -> None:
        done.append(text)

    @app.every("1d")
    def parent() -> None:
        for text in "zyx":
            note.enqueue(text)

    for name in "dbca":
        app.add(name, Every("30d"), note.bind(name), priority=5 if name == "c" else 1000)
    for _ in range(2):
        with app.testing("2026-05-01 00:00Z") as t:
            t.lose_broker()
            t.travel("31d")
    journeys = ["".join(done[: len(done) // 2]), "".join(done[len(done) // 2 :])]

    assert journeys[0] == journeys[1]
    assert "cabdzyx" in journeys[0]


def test_what_was_put_in_can_be_followed_to_its_end() -> None:
    app = Sempre("memory://")

    @app.job
    def double(number: int) -> int:
        return 2 * number

    with app.testing(START) as t:
        receipt = double.enqueue(21)
        t.travel("0s")

        assert t.assert_enqueued(double, 21).state is State.SUCCEEDED
        [found] = app.engine.store.candidates([receipt.id]).value
        assert found.execution.state is State.SUCCEEDED
        [attempt] = app.engine.store.attempts(receipt.id).value
        assert attempt.result == 42
