"""Operators on a journey: verbs on executions that ended long ago, as on any other store."""

from datetime import UTC, datetime

import pytest

from sempre import Sempre
from sempre.domain.states import State
from sempre.errors import Refused

START = "2026-05-01 00:00Z"


def broken_shop() -> tuple[Sempre, dict[str, bool]]:
    app = Sempre("memory://", retention="30d")
    provider = {"is_up": False}

    @app.every("1h")
    def charge() -> None:
        if not provider["is_up"]:
            raise ConnectionError("no answer")

    return app, provider


def test_a_failure_of_last_week_is_retried() -> None:
    app, provider = broken_shop()
    with app.testing(START) as t:
        t.travel("90m")
        [failed] = t.executions("charge", state="failed")
        provider["is_up"] = True
        t.travel("7d")

        app.execution(failed.id).retry(why="the provider is back")
        t.travel("1m")

        assert app.execution(failed.id).row.state is State.SUCCEEDED
        assert [row.run_at for row in t.executions("charge")].count(failed.run_at) == 1
        assert len(app.execution(failed.id).attempts) == 2
        totals = next(iter(app.statement(month="2026-05"))).totals
        assert (totals.demanded, totals.unexplained) == (169, 0)


def test_a_failure_of_last_week_is_discarded() -> None:
    app, provider = broken_shop()
    with app.testing(START) as t:
        t.travel("90m")
        [failed] = t.executions("charge", state="failed")
        provider["is_up"] = True
        t.travel("7d")

        app.execution(failed.id).discard(why="paid by hand")

        assert app.execution(failed.id).row.state is State.CANCELLED
        assert not t.executions("charge", state="failed")


def test_a_retry_of_a_failure_of_last_week_respects_a_pause() -> None:
    app, _ = broken_shop()
    with app.testing(START) as t:
        t.travel("90m")
        [failed] = t.executions("charge", state="failed")
        t.travel("7d")
        app.schedule("charge").pause()

        with pytest.raises(Refused, match="paused"):
            app.execution(failed.id).retry()


def test_a_retry_whose_unique_key_another_execution_holds_is_refused() -> None:
    app = Sempre("memory://", retention="30d")

    @app.job(unique=["order"])
    def ship(order: int) -> None:
        if order == 7 and t.now < datetime(2026, 5, 2, tzinfo=UTC):
            raise ConnectionError("no answer")

    with app.testing(START) as t:
        ship.enqueue(7)
        t.travel("1h")
        [failed] = t.executions(ship)
        t.travel("7d")
        ship.enqueue(7)
        t.travel("1d")
        # The journey keeps some ended executions at hand; others push the failure out.
        for order in range(100, 150):
            ship.enqueue(order)
        t.travel("1d")
        ship.options(delay="1d").enqueue(7)

        with pytest.raises(Refused, match="unique key"):
            app.execution(failed.id).retry()

        t.travel("2d")
        app.execution(failed.id).retry()
        t.travel("1m")
        assert app.execution(failed.id).row.state is State.SUCCEEDED


def test_an_execution_that_was_retried_is_purged_in_its_turn() -> None:
    app, provider = broken_shop()
    with app.testing(START) as t:
        t.travel("90m")
        [failed] = t.executions("charge", state="failed")
        provider["is_up"] = True
        t.travel("7d")
        app.execution(failed.id).retry()
        t.travel("50d")

        assert failed.id not in {row.id for row in app.schedule("charge").executions()}
        assert [row.id for row in t.executions("charge")].count(failed.id) == 1
        statements = [next(iter(app.statement(month=month))) for month in ("2026-05", "2026-06")]
        assert [each.totals.unexplained for each in statements] == [0, 0]
